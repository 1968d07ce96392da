// Package page proves the page and Home in a real browser, Chromium: what a player sees, hears and can
// do there, from a link to playing, on every screen and in every language. Hosts and rooms are real and
// run in the test's own process. Their time and that of their pages passes when the test says, and what
// players' programs measure stands in a table; Home's tests have simulated servers and the machine's time.
package page
