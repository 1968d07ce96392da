package lobby

import (
	"testing"
	"time"

	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/internal/catalogue"
)

// TestMeetingInWords checks that dates follow the reader's clock.
func TestMeetingInWords(t *testing.T) {
	defer func(zone *time.Location) { time.Local = zone }(time.Local)
	yes, no := true, false
	at := time.Date(2026, 11, 27, 19, 0, 0, 0, time.UTC)
	who := []wire.Attendee{{Name: "ann", Comes: &yes}, {Name: "bob\x1b[31m", Comes: &no}, {Name: "cat"}}
	for _, test := range []struct {
		meeting *wire.Meeting
		zone    *time.Location
		want    string
	}{
		{nil, time.UTC, ""},
		{&wire.Meeting{}, time.UTC, ""},
		{&wire.Meeting{Next: at, Who: who}, time.FixedZone("", 14*3600), "next game night: Saturday, 28 November, 09:00; coming: ann; not coming: bob[31m"},
		{&wire.Meeting{Next: at.AddDate(36, 0, 0)}, time.UTC, "next game night: Monday, 27 November 2062, 19:00"}, // 36 years after 2026
		{&wire.Meeting{Next: time.Date(2026, 12, 31, 23, 0, 0, 0, time.UTC)}, time.FixedZone("", 2*3600), "next game night: Friday, 1 January 2027, 01:00"},
		{&wire.Meeting{Last: &wire.Last{Server: "Frankfurt", MeanMS: 41.4}}, time.UTC, "last time: Frankfurt, 41 ms"},
	} {
		time.Local = test.zone
		if got := meetingInWords(catalogue.InEnglish(), test.meeting, at.In(test.zone)); got != test.want {
			t.Errorf("%+v is %q, want %q", test.meeting, got, test.want)
		}
	}
}

// TestKeysOfMeeting checks that nobody is asked about a last session that never happened.
func TestKeysOfMeeting(t *testing.T) {
	for _, test := range []struct {
		meeting *wire.Meeting
		want    string
	}{
		{nil, ""},
		{&wire.Meeting{}, ""},
		{&wire.Meeting{Next: time.Unix(1, 0)}, "type come or not for that date"},
		{&wire.Meeting{Last: &wire.Last{}}, "type liked or disliked for where you were last"},
		{&wire.Meeting{Next: time.Unix(1, 0), Last: &wire.Last{}}, "type come or not for that date, liked or disliked for where you were last"},
	} {
		if got := english(keysOfMeeting(test.meeting)); got != test.want {
			t.Errorf("of %+v one is told to %q, want %q", test.meeting, got, test.want)
		}
	}
}

// TestMeetingTyped checks that the words of a standing room work there and nowhere else, and take
// nothing from the vote.
func TestMeetingTyped(t *testing.T) {
	stays, ends := &wire.Snapshot{Meeting: &wire.Meeting{}}, &wire.Snapshot{}
	stays.Room.Round = 3
	for _, test := range []struct {
		line string
		room *wire.Snapshot
		want wire.Word
	}{
		{"come", stays, wire.SayCome}, {" Not ", stays, wire.SayNotCome}, {"no", stays, wire.SayNotCome},
		{"liked", stays, wire.SayLiked}, {"disliked", stays, wire.SayDisliked},
		{"come", ends, ""}, {"next", stays, ""}, {"3", stays, ""}, {"", stays, ""},
	} {
		word, is := ofMeeting(test.line, test.room)
		if is != (test.want != "") || is && (word.What != test.want || word.Round != 3) {
			t.Errorf("%q is %v, %v, want %q", test.line, word, is, test.want)
		}
	}
	v := newVoter()
	v.room.Store(stays)
	if !v.typed("come", func(wrong sentence.Sentence) { t.Error(wrong) }) || (<-v.says).What != wire.SayCome || v.typed("end", func(sentence.Sentence) {}) {
		t.Error("what is typed in a room that stays does not get there")
	}
	stays.Meeting.Next = time.Unix(1, 0)
	for _, line := range []string{"help", " ? "} {
		said := ""
		if !v.typed(line, func(help sentence.Sentence) { said += english(help) }) || said != "type come or not for that date" {
			t.Errorf("%q is told %q", line, said)
		}
	}
}
