// Package places measures how exactly a real browser measures places. The browser runs in a network
// namespace, and links with known delays lead to beacons and web servers in another one.
//
//	page's server ◀─▶ browser ─▶ line ─▶ │ distance │ ─▶ 24 beacons, 6 web servers
//	└──────────── player ────────────┘                └───────── servers ────────┘
//
// The browser opens a page that imports web/static/places, measures, and posts the results. A busy
// machine makes links and servers late: a program asks the same servers meanwhile, and what it finds over
// the delays is no error of the browser's. The tests run with -places, as root:
//
//	go -C e2e test ./places -places -v
//	go -C e2e test ./places -places -v -run TestICE -browser firefox-esr
package places
