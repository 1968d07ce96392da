package a2s

import "bytes"

// noChallenge is what clients send that do not know the server's challenge yet.
const noChallenge = "\xff\xff\xff\xff"

// Request is what a client asks of a server.
type Request struct {
	// Kind is [Info], [Players] or [Rules].
	Kind byte
	// Challenge is the 4 bytes that the server demanded, or nil if the client
	// does not know them yet. It is a part of the datagram.
	Challenge []byte
}

// ParseRequest reads a client's request. What follows it is passed over, as
// servers do: some clients pad their requests.
func ParseRequest(b []byte) (Request, error) {
	b, ok := bytes.CutPrefix(b, []byte(single))
	if !ok || len(b) == 0 {
		return Request{}, malformed("a request of %d bytes", len(b))
	}
	r := Request{Kind: b[0]}
	b = b[1:]
	switch r.Kind {
	case Players, Rules:
	case Info:
		if b, ok = bytes.CutPrefix(b, []byte(infoWord)); !ok {
			return Request{}, malformed("a request for information without its word")
		}
	default:
		return Request{}, malformed("a request of kind %#02x", r.Kind)
	}
	if len(b) >= challengeLen && string(b[:challengeLen]) != noChallenge {
		r.Challenge = b[:challengeLen:challengeLen]
	}
	return r, nil
}
