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
// has a package: discovery/protocol/quake3, discovery/protocol/a2s,
// discovery/protocol/bedrock …
//
// # Compatibility
//
// Code that imports this package keeps compiling within a major version; docs/go.md has the whole
// promise. Fields and constants may be added, so write structs with field names. Interfaces stay as
// they are: a plan or a protocol of your own goes on working. The order in which a strategy probes may
// improve from release to release. What a [Plan] promises its executor stays.
package discovery
