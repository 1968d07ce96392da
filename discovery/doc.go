// Package discovery describes game servers, orders their probes, and decides when a
// player has seen enough. It is pure: it opens no socket and reads no clock. So the
// prober on the real network, the simulator in virtual time and the tests drive the
// same code.
//
//	         Next: the server to probe
//	  ┌──────────────────────────────┐
//	  │                              ▼
//	Plan                     executor (prober, simulator)
//	  ▲                              │
//	  └──────────────────────────────┘
//	       Observe: the result
//
// Plans are made in discovery/plan. A [Protocol] gives datagrams their meaning. Each
// has a package, such as discovery/protocol/quake3 and discovery/protocol/a2s.
package discovery
