package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"muster/internal/option"
	"muster/internal/reports"
	"muster/internal/term"
	"muster/selection"
	"muster/selection/anomaly"
)

// choice is the command that chooses from saved reports.
type choice struct {
	*program
	criteria selection.Criteria
	json     bool
}

func newSelect(p *program) *cobra.Command {
	c := &choice{program: p}
	cmd := &cobra.Command{
		GroupID: toLook,
		Use:     "select REPORT…",
		Short:   "Choose from saved reports, one file a player",
		Long: `Select chooses a server for the players whose reports it is given: Muster's own
(muster discover --json) or QStat's (quakestat -xml -P -R), whose players are
named after their files. A server has to stand in everyone's report; so have
everyone ask all servers of one list (--auto-stop off). Files may be gzipped; -
is standard input.`,
		Example: `  muster discover --game openarena --servers list.txt --auto-stop off --name ann --json >ann.json
  quakestat -xml -P -R -default q3s -f list.txt >bob.xml
  muster select ann.json bob.xml
  muster select ann.json bob.xml --by threshold --max-rtt 100ms,150ms --map oa_dm1
  muster select *.xml --by fairness --weights ann=2 --top 3
  muster select *.json --by even-sides --sides ann=a,ben=a,emil=b,zoe=b`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("which reports? Name one file a player")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return c.run(args) },
	}
	flags := cmd.Flags()
	bindRule(cmd, &c.criteria.By, selection.Mean, "rule for the choice")
	bindLimits(flags, &c.criteria.Limits)
	flags.IntVar(&c.criteria.Seats, "players", 0, "free seats the group needs, `N` (default: one for each report)")
	bindAsked(flags, &c.criteria, "")
	flags.Var(option.Weights(&c.criteria.Weights), "weights", "players who count for more or less than 1")
	flags.Var(option.Sides(&c.criteria.Sides), "sides", "players who play on side a or b, for --by even-sides")
	flags.IntVar(&c.criteria.Top, "top", 10, "`N` servers in the ranking; 0 is all")
	flags.BoolVar(&c.json, "json", false, "print the choice as JSON")
	return cmd
}

func (c *choice) run(files []string) error {
	switch {
	case c.criteria.Seats < 0:
		return usagef("--players %d is below 0", c.criteria.Seats)
	case c.criteria.Top < 0:
		return usagef("--top %d is below 0", c.criteria.Top)
	}
	if err := needsLimit(c.criteria.By, c.criteria.Limits); err != nil {
		return err
	}
	all, err := reports.Read(files, c.in)
	if err != nil {
		return err
	}
	servers, table, err := selection.Merge(all)
	if err != nil {
		return err
	}
	c.criteria.Seats = cmp.Or(c.criteria.Seats, len(all))
	if err := c.criteria.Check(table.Players()); err != nil {
		return usageError(err)
	}
	chosen := selection.Select(servers, table, c.criteria)
	chosen.Doubts = anomaly.Find(servers.List, table)
	if c.json {
		err = json.NewEncoder(c.out).Encode(chosen)
	} else {
		c.show(chosen, servers)
	}
	if err == nil && chosen.Chosen == nil {
		err = errNothing
	}
	return err
}

// show prints the choice for people: the reasons, then the ranking. If the players do not fit in
// the ranking, the RTTs for the chosen server follow below it.
func (c *choice) show(s selection.Selection, servers selection.Servers) {
	for _, text := range c.screen.Language.SayAll(s.Explain()) {
		fmt.Fprintln(c.out, c.out.Wrap(text, 0))
	}
	if len(s.Ranking) == 0 {
		return
	}
	fmt.Fprintln(c.out)
	if ranking := rankingTable(s, servers, s.Players); ranking.Fits(c.out) {
		ranking.Write(c.out)
		return
	}
	rankingTable(s, servers, nil).Write(c.out)
	fmt.Fprintln(c.out)
	t := &term.Table{Columns: []term.Column{term.Left("PLAYER"), term.Right("PING")}}
	for _, name := range slices.SortedFunc(slices.Values(s.Players), func(a, b string) int { // the worst off first
		return cmp.Or(cmp.Compare(s.Chosen.RTT[b], s.Chosen.RTT[a]), cmp.Compare(a, b))
	}) {
		t.Add(name, tenths(s.Chosen.RTT[name]))
	}
	t.Write(c.out)
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
