// Package openapi describes a host's HTTP endpoints to other programs, as a document of OpenAPI 3.1.
//
//	host's table of routes ──┐
//	contracts, a route each ─┼─▶ New ─▶ Document ─▶ GET /api/openapi.json
//	Go types, by reflection ─┤                  └─▶ docs/api.md
//	their comments ──────────┘
//
// A contract says what a route takes and answers. Fields, types and enumerations come from the Go types
// that the handlers read and write. Descriptions come from the comments on those types. comments.json
// has them, because a program does not contain its own; a test keeps it up to date. New reports a
// route without a contract, a contract without a route, and a field without a description.
package openapi

// Version is the version of the document. The first number rises when a stable part changes or goes
// away, the second one with every addition.
const Version = "1.0"

// Route is an endpoint in the host's table.
type Route struct {
	Method, Pattern string
	// For names the permitted callers, and Limits the bounds of their calls.
	For, Limits string
}

func (r Route) String() string { return r.Method + " " + r.Pattern }

// Stability says what a program may rely on.
type Stability string

const (
	// Stable parts stay as they are while the first number of the version stays.
	Stable Stability = "stable"
	// Provisional parts may change with any release.
	Provisional Stability = "provisional"
)
