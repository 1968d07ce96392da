package host

import (
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"muster/internal/clock"
)

// These are the headers in which most proxies say whom they speak for. The host reads no others.
const (
	forHeader   = "X-Forwarded-For"
	hostHeader  = "X-Forwarded-Host"
	protoHeader = "X-Forwarded-Proto"
)

// oneForwarding lets a handler see one form of what proxies say. It translates Forwarded (RFC 7239) if a
// request has none of the other headers: a proxy that writes those may pass on its client's Forwarded.
func oneForwarding(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		isOld := r.Header.Get(forHeader) != "" || r.Header.Get(hostHeader) != "" || r.Header.Get(protoHeader) != ""
		if isOld || r.Header.Get("Forwarded") != "" {
			changed := *r // handlers leave their caller's request alone
			changed.Header = r.Header.Clone()
			if !isOld {
				translate(changed.Header)
			}
			if proto := changed.Header.Get(protoHeader); proto != "" {
				changed.Header.Set(protoHeader, firstProto(proto))
			}
			r = &changed
		}
		next.ServeHTTP(w, r)
	})
}

// firstProto returns http or https: what the first proxy of a list was asked by. Some name WebSockets' own.
func firstProto(list string) string {
	first, _, _ := strings.Cut(list, ",")
	switch first = strings.ToLower(strings.TrimSpace(first)); first {
	case "wss":
		return "https"
	case "ws":
		return "http"
	}
	return first
}

// translate adds the X-Forwarded headers that say the same as Forwarded. The name is the nearest
// proxy's, as for X-Forwarded-Host.
func translate(h http.Header) {
	var clients, protos []string
	elements := splitUnquoted(strings.Join(h.Values("Forwarded"), ","), ',')
	for i, element := range elements {
		said := map[string]string{"for": "unknown"}
		for _, pair := range splitUnquoted(element, ';') {
			name, value, _ := strings.Cut(pair, "=")
			said[strings.ToLower(strings.TrimSpace(name))] = strings.ReplaceAll(unquoted(strings.TrimSpace(value)), ",", ".")
		}
		clients = append(clients, said["for"])
		if proto := said["proto"]; proto != "" {
			protos = append(protos, proto)
		}
		if host := said["host"]; host != "" && i == len(elements)-1 {
			h.Set(hostHeader, host)
		}
	}
	h.Set(forHeader, strings.Join(clients, ", "))
	if len(protos) > 0 {
		h.Set(protoHeader, protos[0])
	}
}

// splitUnquoted splits a header at each separator outside quotation marks.
func splitUnquoted(text string, separator byte) (parts []string) {
	isQuoted, start := false, 0
	for i := 0; i < len(text); i++ {
		switch {
		case isQuoted && text[i] == '\\':
			i++
		case text[i] == '"':
			isQuoted = !isQuoted
		case text[i] == separator && !isQuoted:
			parts, start = append(parts, text[start:i]), i+1
		}
	}
	return append(parts, text[start:])
}

// unquoted returns the content of a quoted text; \ stands before any character as it is.
func unquoted(text string) string {
	if len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' {
		return text
	}
	return strings.NewReplacer(`\\`, `\`, `\`, "").Replace(text[1 : len(text)-1])
}

// hop reads a client as proxies write it: an address, with or without brackets, a port and quotation
// marks.
func hop(text string) (netip.Addr, error) {
	text = unquoted(strings.TrimSpace(text))
	if at, err := netip.ParseAddrPort(text); err == nil {
		return at.Addr().Unmap().WithZone(""), nil
	}
	if inner, is := strings.CutPrefix(text, "["); is {
		text = strings.TrimSuffix(inner, "]")
	}
	addr, err := netip.ParseAddr(text)
	return addr.Unmap().WithZone(""), err
}

// unreadable tells the operator of clients that a trusted proxy names and the host cannot read, because
// all of them share the limits of one address then. Its zero value does.
type unreadable struct {
	log   *slog.Logger
	clock clock.Clock

	mu   sync.Mutex
	told time.Time
}

// unreadableEvery bounds how often the log says it, because it happens with every request.
const unreadableEvery = time.Minute

// note tells of what a proxy wrote. It leaves out what may be somebody's address.
func (u *unreadable) note(proxy netip.Addr, text string) {
	now := u.clock.Now()
	u.mu.Lock()
	isNew := u.told.IsZero() || now.Sub(u.told) >= unreadableEvery
	if isNew {
		u.told = now
	}
	u.mu.Unlock()
	if !isNew || u.log == nil {
		return
	}
	var shown strings.Builder
	anonymous{&shown}.Write([]byte(text[:min(len(text), 64)]))
	u.log.Warn("a trusted proxy names its client in a way that cannot be read: it counts as the proxy itself, and "+
		"shares its limits with all others of this kind", "proxy", proxy, "client", shown.String())
}
