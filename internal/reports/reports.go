// Package reports reads players' saved measurements, one file a player, in Muster's and QStat's formats, and shows the
// choice from them.
package reports

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"muster/discovery"
	"muster/discovery/report"
	"muster/discovery/report/qstat"
	"muster/internal/catalogue"
	"muster/internal/hint"
	"muster/internal/input"
	"muster/internal/term"
	"muster/selection"
)

// These hints are about reports.
const (
	whose   = "muster discover --name NAME says whose report it is; QStat's are named after their files"
	whereof = "reports come from muster discover --json, or from quakestat -xml -P -R"
)

// Read reads one report a file, in either format.
func Read(files []string, in io.Reader) ([]report.Report, error) {
	var reports []report.Report
	for _, file := range files {
		name := input.Name(file)
		f, err := input.Open(file, in)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		player := strings.TrimSuffix(filepath.Base(name), ".gz")
		one, err := parse(f, discovery.CleanText(strings.TrimSuffix(player, filepath.Ext(player))))
		f.Close()
		var other *report.FormatError
		switch {
		case errors.As(err, &other) && other.Format == "":
			err = errors.New("this JSON is no report: it does not say its format")
		case errors.As(err, &other):
			err = fmt.Errorf("this is a %s, not a %s", discovery.CleanText(other.Format), report.Format)
		case err != nil:
			err = errors.New(hint.Plain(hint.Reason(err)))
		}
		if err != nil {
			return nil, hint.With(fmt.Errorf("%s: %w", name, err), whereof)
		}
		twin := slices.IndexFunc(reports, func(r report.Report) bool { return r.Peer == one.Peer })
		switch {
		case one.Peer == "":
			return nil, hint.With(fmt.Errorf("%s does not name its player", name), whose)
		case twin >= 0:
			return nil, hint.With(fmt.Errorf("%s and %s: two reports are by %q", input.Name(files[twin]), name, one.Peer), whose)
		}
		reports = append(reports, one)
	}
	return reports, nil
}

// parse detects the format by the first character after anything that editors put before a text. QStat does not name
// the report's player.
func parse(from io.Reader, player string) (report.Report, error) {
	text := bufio.NewReader(from)
	for {
		first, _, err := text.ReadRune()
		switch {
		case errors.Is(err, io.EOF):
			return report.Report{}, errors.New("the file is empty")
		case err != nil:
			return report.Report{}, err
		case strings.ContainsRune("\ufeff \t\r\n", first):
			continue
		}
		text.UnreadRune()
		switch first {
		case '<':
			report, err := qstat.ReadXML(text)
			report.Peer = player
			return report, err
		case '{', '[':
			return report.Read(text)
		}
		return report.Report{}, errors.New("this is neither JSON nor XML")
	}
}

// Show prints a choice for people: the reasons, then the ranking. If the players do not fit in the ranking, the RTTs for
// the chosen server follow below it.
func Show(out term.Terminal, language *catalogue.Language, s selection.Selection, servers selection.Servers) {
	for _, text := range language.SayAll(s.Explain()) {
		fmt.Fprintln(out, out.Wrap(text, 0))
	}
	if len(s.Ranking) == 0 {
		return
	}
	fmt.Fprintln(out)
	if ranking := rankingTable(s, servers, s.Players); ranking.Fits(out) {
		ranking.Write(out)
		return
	}
	rankingTable(s, servers, nil).Write(out)
	fmt.Fprintln(out)
	t := &term.Table{Columns: []term.Column{term.Left("PLAYER"), term.Right("PING")}}
	for _, name := range slices.SortedFunc(slices.Values(s.Players), func(a, b string) int { // the worst off first
		return cmp.Or(cmp.Compare(s.Chosen.RTT[b], s.Chosen.RTT[a]), cmp.Compare(a, b))
	}) {
		t.Add(name, tenths(s.Chosen.RTT[name]))
	}
	t.Write(out)
}

// rankingTable compares the servers, with the RTTs of some players.
func rankingTable(s selection.Selection, servers selection.Servers, players []string) *term.Table {
	t := &term.Table{Columns: []term.Column{
		term.Right(""), term.Whole("SERVER"), term.Left("NAME"), term.Right("MEAN"), term.Right("WORST"), term.Right("STDEV"),
	}, Spare: []string{"NAME", "STDEV", "WORST"}}
	hasSides := len(s.Ranking) > 0 && s.Ranking[0].SideMeanMS != nil
	if hasSides {
		t.Columns = append(t.Columns, term.Right("SIDE A"), term.Right("SIDE B"))
	}
	for _, name := range players {
		t.Columns = append(t.Columns, term.Right(name))
	}
	for i, r := range s.Ranking {
		name := ""
		if info := servers.Infos[r.Server]; info != nil {
			name = info.Name
		}
		row := []any{i + 1, r.Addr, name, tenths(r.MeanMS), tenths(r.MaxMS), tenths(r.StdevMS)}
		if hasSides {
			row = append(row, tenths(r.SideMeanMS.A), tenths(r.SideMeanMS.B))
		}
		for _, player := range players {
			row = append(row, tenths(r.RTT[player]))
		}
		t.Add(row...)
	}
	return t
}

func tenths(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }
