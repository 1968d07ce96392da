// Package program tests the program as people run it: built from this source, on machines of its
// own, with game servers, clients, proxies, authorities and desktops that other people wrote.
// bash .ci/install installs them. Some tests need root, for network namespaces.
package program
