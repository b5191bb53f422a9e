"""The proxy: carries requests from clients to engines and answers back.

Exchange: one request and everything that became of it.  Dialect: a wire language.  Segment: a
text with its provenance.  Finding: something a detector found in one.  Decision: what a policy
makes of the findings.  Route: model names → pool and policy.  Pool: engines that can stand in for
each other.  Engine: one inference server.  HoldBack: the filter of one text channel of a stream.
Record: what the audit log keeps.  Measurement: what telemetry is told.  World: all the parts.
"""
