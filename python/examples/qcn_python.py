"""QCN-2pt in Python: the tutorial of a scheme, and the oracle of the bridge. Its runs are those of `qcn-2pt` with
`sampling = "bytes"`, bit for bit."""

import math

import cnsim as cn


@cn.scheme("qcn-2pt-python")
class Qcn(cn.Scheme):
    """Quantised congestion notification, two points (2007), with the defaults of B07."""

    w = cn.param.number(2.0, low=0, high=1000, symbol="W", doc="Weight of the queue's growth.")
    q_eq = cn.param.bytes(26_176, low=64, high="100 MB", symbol="Q_eq", doc="Set point of the queue.")
    gd = cn.param.number("1/128", low=0, high=1, symbol="G_d", doc="Decrease gain per step of the feedback.")
    ri = cn.param.rate("12 Mb/s", low=0, high="10 Tb/s", symbol="R_i", doc="Active-increase step.")
    r_min = cn.param.rate("10 Mb/s", low="10 kb/s", high="10 Tb/s", symbol="R_min", doc="Smallest rate of a limiter.")
    counters = {"cnm_messages": "messages that congestion points sent"}
    promise = cn.Promise(floor=10e6, reacts=True, recovers=(40_000_000, 0.1))

    def engages(self, feedback: cn.Feedback) -> bool:
        return isinstance(feedback, cn.Feedback.Cnm) and feedback.qntz_fb > 0

    class CongestionPoint(cn.CongestionPoint):
        p: "Qcn"

        def start(self, queue: cn.Queue) -> None:
            self.q_old = 0
            self.fb_max = (2.0 * self.p.w + 1.0) * self.p.q_eq
            self.span = 64.0
            while self.span < self.fb_max / 64.0:
                self.span *= 2.0
            self.arm(0, queue)

        def arm(self, qfb: int, queue: cn.Queue) -> None:
            chance = 0.01 + (0.1 - 0.01) * qfb / 63.0
            queue.sample_after(max(1500.0 / chance * (1.0 + 0.3 * (queue.uniform() - 0.5)), 1.0))

        def on_sample(self, frame: cn.Frame, queue: cn.Queue) -> None:
            p, q = self.p, queue.len
            fb = min(max((p.q_eq - q) - p.w * (q - self.q_old), -self.fb_max), 0.0)
            qfb = min(math.floor(-fb / 64.0 * 64.0 / self.span), 63)
            if qfb > 0 and q > p.q_eq:
                queue.count("cnm_messages")
                queue.notify(frame.flow, cn.Feedback.Cnm(self.site.point, qfb, p.q_eq - q, q - self.q_old))
            self.q_old = q
            self.arm(qfb, queue)

    class ReactionPoint(cn.ReactionPoint):
        p: "Qcn"

        def start(self, limiter: cn.Limiter) -> None:
            self.target = 0.0
            self.cycle = 0

        def on_feedback(self, feedback: cn.Feedback, limiter: cn.Limiter) -> None:
            if not isinstance(feedback, cn.Feedback.Cnm) or feedback.qntz_fb == 0:
                return
            fresh = not limiter.engaged
            limiter.engage()
            if fresh:
                self.target = limiter.line_rate
            before = limiter.rate
            limiter.rate = max(before * max(1.0 - self.p.gd * feedback.qntz_fb, 0.5), self.p.r_min)
            if not fresh and self.cycle > 0:  # extra fast recovery: the messages of one burst keep the target
                self.target = before
            if fresh or self.cycle > 0:  # a message in a burst does not put off the cycle's end
                limiter.wake_after(150_000)
            self.cycle = 0

        def on_bytes(self, limiter: cn.Limiter) -> None:
            self.cycle += 1
            line = limiter.line_rate
            if self.cycle > 5:
                self.target += self.p.ri
            self.target = min(self.target, line)
            rate = (limiter.rate + self.target) * 0.5
            limiter.rate = line if self.target == line and rate >= line * 0.98 else rate
            if limiter.rate >= line:
                limiter.release_when_empty()
            limiter.wake_after(150_000 if self.cycle < 5 else 37_500)
