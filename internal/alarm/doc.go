// Package alarm sleeps more exactly than Go's timers, until a time or until it is rung.
//
//	Linux             ppoll on a thread of its own, without the kernel's timer slack
//	Windows           a waitable timer of high resolution
//	macOS and others  Go's timers: the runtime's kevent counts nanoseconds
package alarm
