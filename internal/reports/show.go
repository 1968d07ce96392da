package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"muster/internal/catalogue"
	"muster/internal/term"
	"muster/selection"
)

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
