// Package lan tests discovery/lists/lan between machines of its own, and with avahi, which other
// people wrote. It needs root, for network namespaces.
package lan
