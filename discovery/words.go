package discovery

import "fmt"

// ServersInWords says how many servers.
func ServersInWords(n int) string {
	if n == 1 {
		return "1 server"
	}
	return fmt.Sprintf("%d servers", n)
}
