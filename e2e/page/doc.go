// Package page proves the page and Home in a real browser, Chromium: what a player sees, hears and can
// do there, from a link to playing, on every screen and in every language. Hosts and rooms are real,
// mostly in the test's own process; servers are simulated.
package page
