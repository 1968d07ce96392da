package privacy

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/selection"
	"muster/selection/anomaly"
	"muster/selection/law"
)

// open are the paths of the shown snapshot whose figures are nobody's pings in this match. Others
// are an error, also those that a later release adds.
var open = regexp.MustCompile(`^(` + strings.Join([]string{
	`room\.search\.rounds`,
	`evening\..*`, `meeting\..*`, // matches before this one
	`choice\.selection\.(limit_ms|looked_s|estimated_ms\..*)`,
	`choice\.selection\.excess_ms\..*`, `choice\.explain\.\d+\.with\.over`, // above what the lines suggest
	`choice\.miss\.limit_ms`, `match\.law\.minping_ms`,
	`people\.\d+\.estimate\.error_ms`, // the usual error of any estimate
	`lists\..*`,
	`(choice\.selection\.(ranking\.\d+|chosen)\.side_mean_ms|match\.servers\.\d+\.means_ms)\.\w+`, // averages
	`phase\.(since|left)_ms`,             // times
	`places\.candidates\.\d+\.(lat|lon)`, // where cities are
	// Sentences about other things.
	`room\.(held|posts)\..*`, `games\..*`, `way\..*`, `agreement\.rule\..*`, `people\.\d+\.(detail|unable|estimate\.why)\..*`,
}, "|") + `)$`)

// TestNoPingIsLeft fills every figure of a snapshot with its own mark. It walks all of the JSON that
// everyone sees, and finds only marks of figures that are no pings.
func TestNoPingIsLeft(t *testing.T) {
	for _, decided := range []string{"", "192.0.2.7:27960"} {
		f := filler{}
		var s wire.Snapshot
		f.fill(reflect.ValueOf(&s).Elem(), 0)
		s.Way = nil
		s.Match.Decided, s.Match.Server = decided != "", decided
		s.Match.Camps[0].Players, s.Match.Camps[1].Players = []string{"ann", "bob"}, []string{"cat", "dan"}
		for _, name := range []string{"ann", "bob", "cat", "dan"} {
			s.People = append(s.People, wire.Person{Name: name, Peer: true})
		}
		s.Choice.Selection.Ranking[0].Addr = hostport.At(netip.MustParseAddrPort("192.0.2.7:27960"))
		shown, own := Split(s)
		data, err := json.Marshal(shown)
		if err != nil {
			t.Fatal(err)
		}
		var document any
		if err := json.Unmarshal(data, &document); err != nil {
			t.Fatal(err)
		}
		walk("", document, func(path, text string) {
			isOpen := open.MatchString(path) || decided != "" && regexp.MustCompile(
				`^(choice\.selection\.ranking\.0\.(mean_ms|max_ms|rtt_ms\..*)|choice\.selection\.ranking\.0\.law\.breaks\.\d+\.(value|limit)|match\.(even|law)\..*)$`).MatchString(path)
			if f.isMark(text) && !isOpen {
				t.Errorf("decided %q: %s shows %s", decided, path, text)
			}
		})
		if len(own["ann"]) == 0 || len(own["dan"]) == 0 {
			t.Errorf("ann and dan see %v and %v of their own", own["ann"], own["dan"])
		}
	}
}

// TestTarget checks which server a match shows everybody, with all pings: the decided one, under the
// address that players ask, also where they connect to another port.
func TestTarget(t *testing.T) {
	const banned, left = "192.0.2.1:27015", "192.0.2.2:27015"
	decided := wire.Match{Decided: true, Server: left}
	for name, c := range map[string]struct {
		match wire.Match
		way   *wire.Way
		want  string
	}{
		"captains decide": {match: wire.Match{Server: left}},
		"decided":         {match: decided, want: left},
		"on the way":      {match: decided, way: &wire.Way{Connect: left}, want: left},
		"to another port": {match: decided, way: &wire.Way{Connect: "192.0.2.2:27016"}, want: left},
	} {
		t.Run(name, func(t *testing.T) {
			s := wire.Snapshot{Match: &c.match, Way: c.way, Choice: &wire.Choice{Target: left}}
			for _, addr := range []string{banned, left} {
				s.Choice.Selection.Ranking = append(s.Choice.Selection.Ranking,
					selection.Ranked{Addr: hostport.At(netip.MustParseAddrPort(addr)), RTT: map[string]float64{"ann": 20}})
			}
			shown, _ := Split(s)
			if shown.Choice.Target != c.want {
				t.Errorf("it goes to %q, want %q", shown.Choice.Target, c.want)
			}
			for _, ranked := range shown.Choice.Selection.Ranking {
				if isOpen := len(ranked.RTT) > 0; isOpen != (ranked.Addr.String() == c.want) {
					t.Errorf("the pings to %v are shown: %v", ranked.Addr, isOpen)
				}
			}
		})
	}
}

// filler fills a value with marks.
type filler struct{ n int }

// mark returns the next mark. No average of some is another one, rounded or not.
func (f *filler) mark() float64 {
	f.n++
	return 1000 + float64(f.n)*7 + 0.377
}

// isMark reports whether a figure is a mark, or one with a part of its milliseconds cut off.
func (f *filler) isMark(text string) bool {
	ms, err := strconv.ParseFloat(text, 64)
	return err == nil && ms >= 1000 && ms <= 1001+float64(f.n)*7 && int(ms)%7 == 1000%7
}

func (f *filler) fill(v reflect.Value, depth int) {
	switch v.Interface().(type) {
	case sentence.Sentence:
		v.Set(reflect.ValueOf(sentence.Of("why.last-left", "ms", f.mark(), "server", "x")))
		return
	case law.Break:
		v.Set(reflect.ValueOf(law.Break{Value: discovery.Millis(f.mark() * float64(time.Millisecond))}))
		return
	case netip.AddrPort:
		v.Set(reflect.ValueOf(netip.MustParseAddrPort("192.0.2.9:27960")))
		return
	case wire.Settings, selection.Culled, anomaly.Anomaly, wire.Argument: // no pings, or checked below
		return
	}
	switch v.Kind() {
	case reflect.Float64:
		v.SetFloat(f.mark())
	case reflect.String:
		v.SetString("x")
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem(), depth+1)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		f.fill(v.Index(0), depth+1)
	case reflect.Array:
		for i := range v.Len() {
			f.fill(v.Index(i), depth+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		if v.Type() == reflect.TypeFor[wire.Own]() {
			return // nobody's yet
		}
		for _, name := range []string{"ann", "bob", "cat", "dan"} {
			one := reflect.New(v.Type().Elem()).Elem()
			f.fill(one, depth+1)
			v.SetMapIndex(reflect.ValueOf(name).Convert(v.Type().Key()), one)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			switch field := v.Type().Field(i); {
			case !field.IsExported():
			case v.Field(i).CanInt() && strings.Contains(field.Tag.Get("json"), "_ms"):
				v.Field(i).SetInt(int64(f.mark()))
			default:
				f.fill(v.Field(i), depth+1)
			}
		}
	}
}

// walk visits all figures of a JSON document, also the ones in its texts.
func walk(path string, value any, visit func(path, text string)) {
	below := func(key string) string { return strings.TrimPrefix(path+"."+key, ".") }
	switch v := value.(type) {
	case map[string]any:
		for key, one := range v {
			walk(below(key), one, visit)
		}
	case []any:
		for i, one := range v {
			walk(below(strconv.Itoa(i)), one, visit)
		}
	case float64:
		visit(path, fmt.Sprint(v))
	case string:
		for _, figure := range regexp.MustCompile(`\d+(\.\d+)?`).FindAllString(v, -1) {
			visit(path, figure)
		}
	}
}

// TestOtherRooms checks that rooms without sides show what they did.
func TestOtherRooms(t *testing.T) {
	f := filler{}
	var s wire.Snapshot
	f.fill(reflect.ValueOf(&s).Elem(), 0)
	s.Match = nil
	if shown, own := Split(s); own != nil || !reflect.DeepEqual(shown, s) {
		t.Error("something is hidden where nobody plays against each other")
	}
}

// TestSealed checks that nobody sees the sides' averages before the captains have their servers: a
// side that knew how it stands could still delay its pings. Players see their own.
func TestSealed(t *testing.T) {
	means := &selection.SideMeans{A: 15.4, B: 33.3}
	for _, finalists := range [][]wire.MatchServer{nil, {{Addr: "192.0.2.1:1"}}} {
		s := wire.Snapshot{Match: &wire.Match{Servers: finalists}}
		s.Standing = &wire.Standing{Leaders: []wire.Leader{{ID: 3, RTT: map[string]float64{"ann": 10.4}}}}
		s.Choice = &wire.Choice{Selection: selection.Selection{Chosen: &selection.Ranked{SideMeanMS: means}}}
		shown, own := Split(s)
		if own["ann"]["3"] != 10.4 {
			t.Errorf("%v: %v", finalists, own)
		}
		got, want := shown.Choice.Selection.Chosen.SideMeanMS, (*selection.SideMeans)(nil)
		if finalists != nil {
			want = &selection.SideMeans{A: 15, B: 33}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%v: averages %v, want %v", finalists, got, want)
		}
	}
}

// TestLog checks that people still read what speaks against a player's numbers, without the pings.
func TestLog(t *testing.T) {
	doubt := anomaly.Anomaly{Player: "dan", Sign: anomaly.FavoursOne, Servers: 1, Of: 9}.Sentence()
	log := []wire.Note{
		{Sentence: sentence.Of("room.here", "player", "ann")},
		{Sentence: sentence.Of("room.odd-raised", "oddity", doubt, "ms", 33.3, "instead", 12.1)},
		{Sentence: sentence.Of("room.again", "why", sentence.Of("why.last-left", "ms", 12.5, "server", "x"))},
		{Sentence: sentence.Of("room.allows", "ms", 190)},
	}
	shown, _ := Split(wire.Snapshot{Match: &wire.Match{}, Log: log})
	want := []sentence.Sentence{log[0].Sentence, sentence.Of("why.doubt", "doubt", doubt), log[3].Sentence}
	got := []sentence.Sentence{}
	for _, note := range shown.Log {
		got = append(got, note.Sentence)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestAdvice checks that advice names no limit that is somebody's ping.
func TestAdvice(t *testing.T) {
	advice := []wire.Advice{{Action: "allow", Argument: wire.Argument{LimitMS: 185}}, {Action: "without", Argument: wire.Argument{Name: "dan"}}}
	s := wire.Snapshot{Match: &wire.Match{}, Choice: &wire.Choice{Advice: advice}}
	shown, _ := Split(s)
	if got := shown.Choice.Advice; got[0].Argument.LimitMS != 190 || got[1].Argument.Name != "dan" || advice[0].Argument.LimitMS != 185 {
		t.Errorf("%+v, from %+v", got, advice)
	}
}
