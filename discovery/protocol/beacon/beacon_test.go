package beacon_test

import (
	"bytes"
	"strings"
	"testing"

	"muster/discovery"
	"muster/discovery/internal/codectest"
	. "muster/discovery/protocol/beacon"
)

const nonce = discovery.Nonce(0x0123456789abcdef)

func TestRecorded(t *testing.T) {
	requests, replies := codectest.Packets(t, "beacon.hex")
	if got := (Protocol{}).AppendQuery(nil, nonce, nil); !bytes.Equal(got, requests[0]) {
		t.Errorf("AppendQuery = %x, want %x", got, requests[0])
	}
	for i, name := range []string{"frankfurt", ""} {
		if got := AppendAnswer(nil, requests[0], name); !bytes.Equal(got, replies[i]) {
			t.Errorf("AppendAnswer = %x, want %x", got, replies[i])
		}
		reply, err := Protocol{}.Parse(replies[i : i+1])
		if err != nil || !reply.Echoed || !reply.Answers(nonce) || *reply.Info != (discovery.Info{Name: name}) {
			t.Errorf("%+v, %+v, %v", reply, reply.Info, err)
		}
	}
}

// TestEcho checks that a machine that returns any datagram is an answer, but only of the one who asked.
func TestEcho(t *testing.T) {
	reply, err := Protocol{}.Parse([][]byte{Protocol{}.AppendQuery(nil, nonce, nil)})
	if err != nil || !reply.Echoed || !reply.Answers(nonce) || reply.Answers(nonce+1) || *reply.Info != (discovery.Info{}) {
		t.Errorf("%+v, %v", reply, err)
	}
}

func TestRefuses(t *testing.T) {
	question := string(Protocol{}.AppendQuery(nil, nonce, nil))
	codectest.Refuses(t, Protocol{}, map[string]string{
		"nothing": "", "a longer question": question + "\x00", "a question with a name": question[:16] + "x" + question[17:], "short": "Muster!1.......", "a later version": "Muster!2........",
		"longer than a question": "Muster!1........" + strings.Repeat("x", MaxName+1),
	})
	for what, b := range map[string]string{"nothing": "", "short": question[:QuestionLen-1], "a later version": "Muster?2" + question[8:],
		"an answer": "Muster!1" + question[8:], "of another kind": strings.Repeat("\xff", QuestionLen)} {
		if got := AppendAnswer(nil, []byte(b), "x"); len(got) > 0 {
			t.Errorf("%s is answered by %x", what, got)
		}
	}
}

func TestName(t *testing.T) {
	for text, want := range map[string]string{
		"Frankfurt": "Frankfurt", " a\x1b[31mb\n": "a[31mb", strings.Repeat("x", 60): strings.Repeat("x", MaxName),
		strings.Repeat("x", MaxName-1) + "ü": strings.Repeat("x", MaxName-1),
	} {
		if got := Name(text); got != discovery.CleanText(want) {
			t.Errorf("Name(%q) = %q, want %q", text, got, want)
		}
	}
}

func FuzzParse(f *testing.F) { codectest.Fuzz(f, Protocol{}, "beacon.hex") }

// FuzzAnswer checks that no answer is longer than its question, passes for a question,
// or repeats anything of the question but the nonce.
func FuzzAnswer(f *testing.F) {
	requests, _ := codectest.Packets(f, "beacon.hex")
	for _, b := range requests {
		f.Add(b, "frankfurt")
	}
	f.Fuzz(func(t *testing.T, question []byte, name string) {
		answer := AppendAnswer(nil, question, name)
		if len(answer) > len(question) || len(answer) > QuestionLen {
			t.Fatalf("%d bytes answer %d", len(answer), len(question))
		}
		if len(answer) == 0 {
			return
		}
		if again := AppendAnswer(nil, answer, name); len(again) > 0 {
			t.Fatal("an answer is answered")
		}
		if reply, err := (Protocol{}).Parse([][]byte{answer}); err != nil || !reply.Echoed {
			t.Fatalf("%+v, %v", reply, err)
		}
	})
}
