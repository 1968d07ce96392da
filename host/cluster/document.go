package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// documentLife is how long a document is kept after its last replacement.
const documentLife = 2 * 365 * 24 * time.Hour

// ErrChanged says that another host has replaced a document.
var ErrChanged = errors.New("cluster: another host has replaced the document")

// documentHead is the message that counts a document's parts. Its text is "1 parts sum group".
type documentHead struct {
	parts      int
	sum, group string
	at         uint64
}

// documentCode returns a key for a document among rooms' codes and hashes of lists. Neither of
// these begins with an underscore.
func documentCode(name string) string { return "_" + name }

func (l *large) documentHead(ctx context.Context, name string) (h documentHead, err error) {
	m, err := l.readLarge(ctx, l.subject("list", documentCode(name)))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return h, nil
	}
	if err != nil {
		return h, asAway(err)
	}
	text, group, is := cutLast(string(m.Data))
	parts, sum, ok := parseHead(text)
	if !is || !ok || !isToken(group) {
		return documentHead{at: m.Sequence}, errPacked
	}
	return documentHead{parts, sum, group, m.Sequence}, nil
}

func cutLast(text string) (before, after string, is bool) {
	at := strings.LastIndex(text, " ")
	if at < 0 {
		return "", "", false
	}
	return text[:at], text[at+1:], true
}

// Document is what a cluster's hosts share under a name.
type Document struct {
	l    *large
	name string
}

// DocumentOf returns a cluster's document with a name, which need not exist yet.
func DocumentOf(c *Cluster, name string) Document { return Document{&c.large, name} }

// Read returns the document, and a number that changes with it. If the number is still the known one,
// Read returns no data. Without a document it returns neither. With an error the number says which
// document cannot be read; a caller may replace that one.
func (d Document) Read(ctx context.Context, known uint64) (data []byte, at uint64, err error) {
	l, name := d.l, d.name
	for {
		h, err := l.documentHead(ctx, name)
		if err != nil || h.at == 0 || h.at == known {
			return nil, h.at, err
		}
		body, err := l.getParts(ctx, h.parts, h.sum, func(n int) string { return l.partSubject(documentCode(name), h.group, strconv.Itoa(n)) })
		if errors.Is(err, errTorn) && pause(ctx, retryPause) {
			continue // a host is replacing it
		}
		if err != nil {
			return nil, h.at, asAway(err)
		}
		data, err := l.unpack.DecodeAll(body, nil)
		if err != nil {
			return nil, h.at, errPacked
		}
		return data, h.at, nil
	}
}

// Replace replaces the document with a number, or makes one over 0. It returns the new number. The
// error is ErrChanged if another host was faster; nothing is replaced then.
func (d Document) Replace(ctx context.Context, data []byte, over uint64) (at uint64, err error) {
	l, name := d.l, d.name
	old, err := l.documentHead(ctx, name)
	switch {
	case err != nil && !errors.Is(err, errPacked):
		return 0, err
	case old.at != over:
		return 0, ErrChanged
	case len(data) > maxRoom:
		return 0, fmt.Errorf("cluster: a document of %d bytes is too long", len(data))
	}
	group := rand.Text()
	parts, sum, err := l.putParts(ctx, l.pack.EncodeAll(data, nil), documentLife+partRest,
		func(n int) string { return l.partSubject(documentCode(name), group, strconv.Itoa(n)) })
	if err != nil {
		return 0, err
	}
	at, err = l.publish(ctx, &nats.Msg{
		Subject: l.subject("list", documentCode(name)),
		Data:    fmt.Appendf(nil, "1 %d %s %s", parts, sum, group),
	}, over, documentLife)
	if isWrongSequence(err) {
		return 0, errors.Join(ErrChanged, l.purge(ctx, documentCode(name), group))
	}
	if err != nil {
		return 0, asAway(err)
	}
	if old.group != "" {
		err = l.purge(ctx, documentCode(name), old.group)
	}
	return at, err
}
