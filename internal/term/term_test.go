package term

import (
	"bytes"
	"io"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"muster/internal/await"
	"muster/internal/catalogue"
)

func TestWrap(t *testing.T) {
	tests := []struct {
		sentence      string
		column, width int
		want          string
	}{
		{"", 2, 10, ""},
		{"one two three", 0, 80, "one two three"},
		{"one two three", 2, 9, "one two\n  three"},
		{"unbreakable words", 0, 4, "unbreakable\nwords"},
		{"サーバーを待っています。", 0, 10, "サーバーを\n待っていま\nす。"},
		{"全員がここにいます（4人）。", 2, 14, "全員がここに\n  います（4\n  人）。"},
		{"页面：https://192.0.2.1:7777/#TABOMI 看这里", 0, 10, "页面：\nhttps://192.0.2.1:7777/#TABOMI\n看这里"},
		{"서버를 기다립니다", 0, 10, "서버를\n기다립니다"},
	}
	for _, test := range tests {
		if got := (Terminal{Columns: test.width}).Wrap(test.sentence, test.column); got != test.want {
			t.Errorf("Wrap(%q, %d) in %d columns = %q, want %q", test.sentence, test.column, test.width, got, test.want)
		}
	}
}

// TestQRCode checks that the code is drawn whole or not at all.
func TestQRCode(t *testing.T) {
	const link = "https://192.168.100.100:7777/#TABOMI~TWXEYPFNYHCKBZXKYSZ2GFVYHY"
	var out bytes.Buffer
	needed := Terminal{Writer: &out, Columns: 30}.QR(link)
	if needed <= 30 || out.Len() > 0 {
		t.Fatalf("in 30 columns it needs %d, and writes %q", needed, &out)
	}
	if again := (Terminal{Writer: &out, Columns: needed - 1}).QR(link); again != needed {
		t.Errorf("in %d columns it needs %d", needed-1, again)
	}
	if again := (Terminal{Writer: &out, Columns: needed}).QR(link); again != 0 {
		t.Errorf("in %d columns it needs %d", needed, again)
	}
	for line := range strings.Lines(out.String()) {
		if got := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); got != needed {
			t.Errorf("%d columns, want %d: %s", got, needed, line)
		}
	}
}

// TestQuestionStaysBelow checks that lines appear above an open question.
func TestQuestionStaysBelow(t *testing.T) {
	s, out := testScreen()
	s.Say("before")
	s.ask("well? ")
	s.Say("meanwhile")
	s.unask(true)
	s.Say("after")
	if want := "before\nwell? \nmeanwhile\nwell? \nafter\n"; out.String() != want {
		t.Errorf("%q, want %q", out, want)
	}
}

// TestPromptWaits checks that a line that wants Enter never stands beside a question that wants it, too.
func TestPromptWaits(t *testing.T) {
	s, out := testScreen()
	s.Prompt("press Enter")
	s.ask("well? ")
	s.Prompt("press Enter again")
	s.unask(true)
	s.Prompt("")
	s.ask("and? ")
	s.unask(true)
	s.Say("after")
	if want := "press Enter\nwell? \npress Enter again\nand? \nafter\n"; out.String() != want {
		t.Errorf("%q, want %q", out, want)
	}
}

// TestQuestionsInTurn checks that of two questions at once each gets its own answer.
func TestQuestionsInTurn(t *testing.T) {
	s, _ := testScreen()
	in, typed := io.Pipe()
	c := NewConsole(in, s, func(string) {}, func() {})
	c.Listen()
	defer typed.Close()
	var work sync.WaitGroup
	defer work.Wait()
	gave := make(chan string)
	for _, question := range []string{"one? ", "two? "} {
		work.Go(func() {
			answer, _ := c.Ask(t.Context(), question)
			gave <- question + answer
		})
	}
	for range 2 {
		awaitQuestion(t, s)
		s.mu.Lock()
		asked := s.question
		s.mu.Unlock()
		work.Go(func() { io.WriteString(typed, asked[:3]+"\n") })
		if got := <-gave; got != asked+asked[:3] {
			t.Errorf("%q", got)
		}
	}
}

// TestConsole checks that a line answers an open question, and otherwise is passed on.
func TestConsole(t *testing.T) {
	s, _ := testScreen()
	in, typed := io.Pipe()
	idle, ended := make(chan bool), make(chan bool)
	c := NewConsole(in, s, func(string) { idle <- true }, func() { close(ended) })
	c.Listen()
	var work sync.WaitGroup
	defer work.Wait()
	work.Go(func() { io.WriteString(typed, "\n") })
	<-idle
	work.Go(func() { awaitQuestion(t, s); io.WriteString(typed, " yes \n") })
	if answer, ok := c.Ask(t.Context(), "well? "); answer != "yes" || !ok {
		t.Errorf("%q, %v", answer, ok)
	}
	work.Go(func() { awaitQuestion(t, s); typed.Close() })
	if answer, ok := c.Ask(t.Context(), "and? "); answer != "" || ok {
		t.Errorf("%q, %v, though nobody answers", answer, ok)
	}
	<-ended
	if _, ok := c.Ask(t.Context(), "still? "); ok {
		t.Error("an answer after the end")
	}
}

// awaitQuestion waits until the screen shows a question.
func awaitQuestion(t *testing.T, s *Screen) {
	t.Helper()
	await.Until(t, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.question != ""
	}, "nothing is asked")
}

// TestLive checks that a table replaces the one before, not too often, and is erased at the end.
func TestLive(t *testing.T) {
	var out strings.Builder
	l := &Live{Terminal: Terminal{Writer: &out}, Max: 1}
	content := func() (*Table, string) {
		t := &Table{Columns: []Column{Left("A")}}
		t.Add("x")
		t.Add("y")
		return t, "2 of 3"
	}
	synctest.Test(t, func(*testing.T) {
		l.Draw(content)
		time.Sleep(drawEvery / 2)
		l.Draw(content) // too soon
		time.Sleep(drawEvery / 2)
		l.Draw(content)
	})
	l.Erase()
	frame := "A\x1b[K\nx\x1b[K\n2 of 3\x1b[K\n\x1b[J"
	if want := frame + "\x1b[3A\r" + frame + "\x1b[3A\r\x1b[J"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

// TestLiveFrame checks that at any size of the terminal no line wraps and none scrolls away.
func TestLiveFrame(t *testing.T) {
	for _, size := range []struct{ columns, rows, shown int }{{200, 60, 50}, {80, 24, 21}, {40, 24, 21}, {24, 8, 5}, {10, 2, 0}} {
		l := &Live{Max: 200}
		lines := strings.Split(strings.TrimSuffix(
			l.frame(servers(50), "31 of 2000 asked, 30 answered, 29 under 200 ms", size.columns, size.rows), "\n"), "\n")
		if got := len(lines) - 2; got != size.shown {
			t.Errorf("%d × %d: %d servers, want %d", size.columns, size.rows, got, size.shown)
		}
		for _, line := range lines {
			if runewidth.StringWidth(line) >= size.columns {
				t.Errorf("%d × %d: %q wraps", size.columns, size.rows, line)
			}
		}
	}
}

// TestLiveFrameBelow checks that a table also fits if each row takes two lines.
func TestLiveFrameBelow(t *testing.T) {
	for _, size := range []struct{ columns, rows, shown int }{{80, 24, 21}, {40, 24, 10}, {40, 23, 9}, {40, 4, 0}, {40, 2, 0}} {
		table := servers(50)
		table.Spare, table.Below = []string{"MODE", "MAP"}, "ADDRESS"
		text := (&Live{Max: 200}).frame(table, "31 asked", size.columns, size.rows)
		if got := strings.Count(text, "[2001:db8::1234]:"); got != size.shown {
			t.Errorf("%d × %d: %d addresses, want %d:\n%s", size.columns, size.rows, got, size.shown, text)
		}
		if lines := strings.Count(text, "\n"); size.shown > 0 && lines >= size.rows {
			t.Errorf("%d × %d: %d lines scroll away", size.columns, size.rows, lines)
		}
	}
}

func servers(n int) *Table {
	t := &Table{
		Columns: []Column{Right("RTT"), Right("PLAYERS"), Left("NAME"), Left("MAP"), Left("MODE"), Whole("ADDRESS")},
		Spare:   []string{"MODE", "MAP", "NAME", "PLAYERS"},
	}
	for i := range n {
		t.Add("0.0 ms", "0/8", "サーバー of the north", "oa_dm1", "", netip.AddrPortFrom(netip.MustParseAddr("2001:db8::1234"), uint16(27960+i)))
	}
	return t
}

// TestMissingColumns checks that the caller learns which columns were dropped.
func TestMissingColumns(t *testing.T) {
	t1 := &Table{Columns: []Column{Left("PLACE"), Right("A"), Right("B")}, Spare: []string{"B", "A"}}
	t1.Add("AU", "1000", "")
	t1.Add("JP", "2000", "")
	for width, want := range map[int]string{80: "", 9: "A", 4: "A"} {
		if got := strings.Join(t1.Write(Terminal{Writer: io.Discard, Columns: width}), " "); got != want {
			t.Errorf("in %d columns %q is missing, want %q", width, got, want)
		}
	}
}

func TestBarWidth(t *testing.T) {
	for columns, want := range map[int]int{20: 5, 80: 20, 200: 30} {
		if got := barWidth(columns); got != want {
			t.Errorf("a bar of %d in %d columns, want %d", got, columns, want)
		}
	}
}

func TestBar(t *testing.T) {
	now := time.Now()
	p := progress{Terminal: Terminal{Columns: 80}, language: catalogue.InEnglish(), most: 200, begun: now.Add(-10 * time.Second)}
	for done, want := range map[int]string{
		0:   "   0% |                    | (0/200)",
		50:  "  25% |█████               | (50/200) 30 s left",
		200: " 100% |████████████████████| (200/200) 0 s left",
		210: " 100% |████████████████████| (210/200) 0 s left",
	} {
		if got := p.bar(done, now); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func testScreen() (*Screen, *bytes.Buffer) {
	var out bytes.Buffer
	return NewScreen(New(&out, func(string) string { return "" }), catalogue.InEnglish()), &out
}
