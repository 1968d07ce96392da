package discovery

import "fmt"

// ServersInWords returns "1 server" or "7 servers".
func ServersInWords(n int) string {
	if n == 1 {
		return "1 server"
	}
	return fmt.Sprintf("%d servers", n)
}
