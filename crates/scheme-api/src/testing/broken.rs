//! Schemes with one fault each, to see that the suite finds it and names the promise.
