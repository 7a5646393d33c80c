-- Wireshark and tshark read with this what they do not know of cnsim's captures:
-- 802.1Qau CN-TAGs and congestion notification messages, the name of RoCEv2's CNP, and the private form of other frames.
--   wireshark -X lua_script:cnsim.lua FILE.pcapng
-- docs/tasks/capture.md shows the layouts.

local ethertypes = DissectorTable.get("ethertype")

-- 802.1Qau congestion notification message.
local cnm = Proto("cnm", "802.1Qau Congestion Notification Message")
local c = {
  version = ProtoField.uint16("cnm.version", "Version", base.DEC, nil, 0xf000),
  qfb = ProtoField.uint16("cnm.qfb", "Quantized feedback", base.DEC, nil, 0x003f),
  cpid = ProtoField.bytes("cnm.cpid", "Congestion point"),
  qoffset = ProtoField.int16("cnm.qoffset", "cnmQOffset (64 octets; negative: congested)"),
  qdelta = ProtoField.int16("cnm.qdelta", "cnmQDelta (64 octets)"),
  priority = ProtoField.uint16("cnm.priority", "Encapsulated priority", base.DEC, nil, 0xe000),
  da = ProtoField.ether("cnm.da", "Encapsulated destination"),
  length = ProtoField.uint16("cnm.msdu_length", "Encapsulated MSDU length"),
}
cnm.fields = c
function cnm.dissector(b, info, tree)
  info.cols.protocol = "CNM"
  info.cols.info = "QCN feedback " .. (b(1, 1):uint() % 64) .. ", Qoffset " .. b(10, 2):int()
  local t = tree:add(cnm, b(0, 24))
  t:add(c.version, b(0, 2))
  t:add(c.qfb, b(0, 2))
  t:add(c.cpid, b(2, 8))
  t:add(c.qoffset, b(10, 2))
  t:add(c.qdelta, b(12, 2))
  t:add(c.priority, b(14, 2))
  t:add(c.da, b(16, 6))
  t:add(c.length, b(22, 2))
end
ethertypes:add(0x22e7, cnm)

-- 802.1Qau tag of a rate-limited flow.
local cntag = Proto("cntag", "802.1Qau CN-TAG")
local id = ProtoField.uint16("cntag.flow", "Flow ID")
cntag.fields = { id }
function cntag.dissector(b, info, tree)
  tree:add(cntag, b(0, 4)):add(id, b(0, 2))
  ethertypes:try(b(2, 2):uint(), b(4):tvb(), info, tree)
end
ethertypes:add(0x22e9, cntag)

-- Private form.
local p = Proto("cnsim", "cnsim")
local kinds = {
  [0] = "message", [1] = "data", [2] = "ECM", [3] = "reflection", [4] = "advertised rate", [5] = "returned rate",
  [6] = "probe", [7] = "probe reply", [8] = "user", [9] = "echo",
}
local f = {
  version = ProtoField.uint8("cnsim.version", "Version"),
  kind = ProtoField.uint8("cnsim.kind", "Kind", base.DEC, kinds),
  flag = ProtoField.bool("cnsim.flag", "Marked, or stop", 16, nil, 0x0001),
  named = ProtoField.bool("cnsim.named", "Of one flow", 16, nil, 0x0002),
  finite = ProtoField.bool("cnsim.finite", "Of a finite flow", 16, nil, 0x0004),
  src = ProtoField.uint16("cnsim.src", "Source host of the flow"),
  dst = ProtoField.uint16("cnsim.dst", "Destination host of the flow"),
  nth = ProtoField.uint16("cnsim.nth", "Number of the flow"),
  number = ProtoField.uint32("cnsim.number", "Number of the frame or probe"),
  tag_kind = ProtoField.uint8("cnsim.tag_kind", "Kind of the tag", base.DEC,
    { [0] = "none", [1] = "rate-regulated, by a point", [2] = "rate, kb/s", [3] = "user", [4] = "sent at, ns" }),
  tag = ProtoField.uint32("cnsim.tag", "Tag"),
  switch = ProtoField.uint16("cnsim.switch", "Switch of the congestion point (1: the first; 0: none)"),
  port = ProtoField.uint16("cnsim.port", "Port of the congestion point"),
  fb = ProtoField.double("cnsim.fb", "Fb (64 octets)"),
  probe_fb = ProtoField.int32("cnsim.probe_fb", "Fb of the probe"),
  qoff = ProtoField.int32("cnsim.qoff", "Qoff (octets)"),
  qdelta = ProtoField.int32("cnsim.qdelta", "Qdelta (octets)"),
  rate = ProtoField.double("cnsim.rate", "Rate (bit/s)"),
  sent = ProtoField.uint64("cnsim.sent", "Sent at (ps)"),
  bytes = ProtoField.uint64("cnsim.bytes", "Bytes sent or received before"),
  answered = ProtoField.uint64("cnsim.answered", "Answered at (ps)"),
  echoed = ProtoField.uint32("cnsim.echoed", "Sent at (ns, modulo 2^32)"),
  user = ProtoField.bytes("cnsim.user", "128 bits of the scheme"),
}
p.fields = f
local function point(t, b, at)
  t:add(f.switch, b(at, 2))
  t:add(f.port, b(at + 2, 2))
end
local body = {
  [1] = function(t, b) t:add(f.number, b(10, 4)); t:add(f.tag_kind, b(14, 1)); t:add(f.tag, b(15, 4)) end,
  [2] = function(t, b) point(t, b, 10); t:add(f.fb, b(14, 8)); t:add(f.qoff, b(22, 4)); t:add(f.qdelta, b(26, 4)) end,
  [4] = function(t, b) point(t, b, 10); t:add(f.rate, b(14, 8)) end,
  [5] = function(t, b) t:add(f.rate, b(10, 8)) end,
  [6] = function(t, b)
    t:add(f.number, b(10, 4)); t:add(f.sent, b(14, 8)); t:add(f.bytes, b(22, 8)); t:add(f.probe_fb, b(30, 4)); point(t, b, 34)
  end,
  [7] = function(t, b)
    t:add(f.number, b(10, 4)); t:add(f.sent, b(14, 8)); t:add(f.answered, b(22, 8)); t:add(f.rate, b(30, 8))
    t:add(f.probe_fb, b(38, 4)); point(t, b, 42)
  end,
  [8] = function(t, b) t:add(f.user, b(10, 16)) end,
  [9] = function(t, b) t:add(f.echoed, b(10, 4)); t:add(f.bytes, b(14, 8)) end,
}
function p.dissector(b, info, tree)
  local kind = b(1, 1):uint()
  info.cols.protocol = "cnsim"
  info.cols.info = (kinds[kind] or "message") .. " of H" .. b(4, 2):uint() .. ">H" .. b(6, 2):uint()
  local t = tree:add(p, b())
  t:add(f.version, b(0, 1))
  t:add(f.kind, b(1, 1))
  t:add(f.flag, b(2, 2))
  t:add(f.named, b(2, 2))
  t:add(f.finite, b(2, 2))
  t:add(f.src, b(4, 2))
  t:add(f.dst, b(6, 2))
  t:add(f.nth, b(8, 2))
  if body[kind] then body[kind](t, b) end
end
ethertypes:add(0x88b5, p)

-- The name of RoCEv2's congestion notification packet.
local cnp = Proto("cnp", "RoCEv2 CNP")
local opcode = Field.new("infiniband.bth.opcode")
function cnp.dissector(b, info, tree)
  local found = opcode()
  if found and found.value == 0x81 then
    info.cols.protocol = "RoCE CNP"
    info.cols.info = "Congestion notification packet"
    tree:add(cnp, b(0, 0))
  end
end
register_postdissector(cnp)
