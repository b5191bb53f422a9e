"""The demo: two embedded engines, the proxy in front of them, and a guided tour."""
