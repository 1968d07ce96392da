package cluster

import (
	"bytes"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/nats-io/nats.go/jetstream"
)

// TestDocument checks that hosts share a document, that the faster of two wins, and that nothing is
// left of what was replaced.
func TestDocument(t *testing.T) { synctest.Test(t, testDocument) }

func testDocument(t *testing.T) {
	w := world(startNATS(t))
	a, b := join(t, w, "a"), join(t, w, "b")
	ctx := t.Context()
	if data, at, err := DocumentOf(a, "networks").Read(ctx, 0); data != nil || at != 0 || err != nil {
		t.Errorf("before there is one: %q, %d, %v", data, at, err)
	}
	large := noise(1, 2*partSize)
	first, err := DocumentOf(a, "networks").Replace(ctx, large, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := DocumentOf(b, "networks").Replace(ctx, []byte("slow"), 0); !errors.Is(err, ErrChanged) {
		t.Errorf("the slower host: %v", err)
	}
	data, at, err := DocumentOf(b, "networks").Read(ctx, 0)
	if !bytes.Equal(data, large) || at != first || err != nil {
		t.Errorf("the other host reads %d bytes, %d, %v", len(data), at, err)
	}
	if data, at, err := DocumentOf(b, "networks").Read(ctx, first); data != nil || at != first || err != nil {
		t.Errorf("what it knows: %d bytes, %d, %v", len(data), at, err)
	}
	second, err := DocumentOf(b, "networks").Replace(ctx, []byte("short"), first)
	if err != nil || second <= first {
		t.Fatalf("%d, %v", second, err)
	}
	if data, at, err := DocumentOf(a, "networks").Read(ctx, first); string(data) != "short" || at != second || err != nil {
		t.Errorf("then the first reads %q, %d, %v", data, at, err)
	}
	info, err := a.large.stream.Info(ctx, jetstream.WithSubjectFilter(a.subject("part", ">")))
	if err != nil || len(info.State.Subjects) != 1 {
		t.Errorf("the parts are %v, %v", info.State.Subjects, err)
	}
	if _, err := a.js.Publish(ctx, a.subject("list", "_networks"), []byte("1 x")); err != nil {
		t.Fatal(err)
	}
	if _, at, err := DocumentOf(b, "networks").Read(ctx, second); err == nil {
		t.Errorf("nonsense is read at %d", at)
	}
}
