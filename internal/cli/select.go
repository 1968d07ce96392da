package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"muster/selection"
	"muster/selection/anomaly"
)

// choice is the command that chooses from saved reports.
type choice struct {
	*program
	wish selection.Criteria
	json bool
}

func newSelect(p *program) *cobra.Command {
	c := &choice{program: p}
	cmd := &cobra.Command{
		Use:   "select REPORT…",
		Short: "Choose from saved reports, one file a player",
		Long: `Select chooses a server for the players whose reports it is given: Muster's own
(muster discover --json) or QStat's (quakestat -xml -P -R), whose players are
named after their files. A server has to stand in everyone's report; so have
everyone ask all servers of one list (--auto-stop off). Files may be gzipped; -
is standard input.`,
		Example: `  muster discover --game openarena --servers list.txt --auto-stop off --name ann --json >ann.json
  quakestat -xml -P -R -default q3s -f list.txt >bob.xml
  muster select ann.json bob.xml
  muster select ann.json bob.xml --by threshold --max-rtt 100ms,150ms --map oa_dm1
  muster select *.xml --by fairness --weights ann=2 --top 3`,
		Args: someReports,
		RunE: func(_ *cobra.Command, args []string) error { return c.run(args) },
	}
	flags := cmd.Flags()
	bindRule(cmd, &c.wish.By, selection.Mean, "rule for the choice")
	bindLimits(flags, &c.wish.Limits)
	flags.IntVar(&c.wish.Seats, "players", 0, "free seats the group needs, `N` (default: one for each report)")
	bindFilters(flags, &c.wish, "")
	flags.IntVar(&c.wish.Top, "top", 10, "`N` servers in the ranking; 0 is all")
	flags.BoolVar(&c.json, "json", false, "print the choice as JSON")
	return cmd
}

func someReports(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("which reports? Name one file a player")
	}
	return nil
}

func (c *choice) run(files []string) error {
	if err := c.check(); err != nil {
		return err
	}
	reports, err := readReports(files, c.streams.In)
	if err != nil {
		return err
	}
	servers, table, err := selection.Merge(reports)
	if err != nil {
		return err
	}
	c.wish.Seats = cmp.Or(c.wish.Seats, len(reports))
	if err := c.wish.Check(table.Players()); err != nil {
		return usageError(err)
	}
	chosen := selection.Select(servers, table, c.wish)
	chosen.Doubts = anomaly.Find(servers.List, table)
	if c.json {
		err = json.NewEncoder(c.streams.Out).Encode(chosen)
	} else {
		c.show(chosen, servers)
	}
	if err == nil && chosen.Chosen == nil {
		err = errNothing
	}
	return err
}

// check refuses what makes no sense whatever the reports say.
func (c *choice) check() error {
	switch {
	case c.wish.Seats < 0:
		return usagef("--players %d is below 0", c.wish.Seats)
	case c.wish.Top < 0:
		return usagef("--top %d is below 0", c.wish.Top)
	}
	return needsLimit(c.wish.By, c.wish.Limits)
}

// show prints the choice for people: the reasons, then the ranking. Where the
// players do not fit beside the servers, the chosen one's stand below.
func (c *choice) show(s selection.Selection, servers selection.Servers) {
	out, columns := c.streams.Out, width(c.streams.Out)
	for _, sentence := range s.Explain() {
		fmt.Fprintln(out, wrapped(sentence, "", columns))
	}
	if len(s.Ranking) == 0 {
		return
	}
	fmt.Fprintln(out)
	if ranking := rankingTable(s, servers, s.Players); ranking.least() <= columns {
		ranking.write(out, columns)
		return
	}
	rankingTable(s, servers, nil).write(out, columns)
	fmt.Fprintln(out)
	chosenTable(s).write(out, columns)
}

// rankingTable compares the servers, with the RTTs of some players.
func rankingTable(s selection.Selection, servers selection.Servers, players []string) *table {
	t := &table{columns: []column{
		{"", right}, {"SERVER", whole}, {"NAME", left}, {"MEAN", right}, {"WORST", right}, {"STDEV", right},
	}, spare: []string{"NAME", "STDEV", "WORST"}}
	for _, name := range players {
		t.columns = append(t.columns, column{name, right})
	}
	for i, r := range s.Ranking {
		name := ""
		if info := servers.Infos[r.Server]; info != nil {
			name = info.Name
		}
		row := []string{strconv.Itoa(i + 1), r.Addr.String(), name, millis(r.MeanMS), millis(r.MaxMS), millis(r.StdevMS)}
		for _, player := range players {
			row = append(row, millis(r.RTT[player]))
		}
		t.add(row...)
	}
	return t
}

// chosenTable is who has which RTT to the chosen server, the worst off first.
func chosenTable(s selection.Selection) *table {
	t := &table{columns: []column{{"PLAYER", left}, {"RTT", right}}}
	for _, name := range slices.SortedFunc(slices.Values(s.Players), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.Chosen.RTT[b], s.Chosen.RTT[a]), cmp.Compare(a, b))
	}) {
		t.add(name, millis(s.Chosen.RTT[name]))
	}
	return t
}

func millis(ms float64) string { return strconv.FormatFloat(ms, 'f', 1, 64) }

// weights is a flag of players and what they count, such as ann=2,bob=0.5.
type weights struct{ value *map[string]float64 }

func (f weights) String() string {
	var list []string
	if f.value != nil {
		for _, name := range slices.Sorted(maps.Keys(*f.value)) {
			list = append(list, fmt.Sprintf("%s=%v", name, (*f.value)[name]))
		}
	}
	return strings.Join(list, ",")
}

func (f weights) Set(text string) error {
	if *f.value == nil {
		*f.value = make(map[string]float64)
	}
	for part := range strings.SplitSeq(text, ",") {
		at := strings.LastIndex(part, "=")
		if at < 1 {
			return fmt.Errorf("%q is not NAME=WEIGHT", part)
		}
		weight, err := strconv.ParseFloat(part[at+1:], 64)
		if err != nil || !(weight >= 0) || math.IsInf(weight, 0) {
			return fmt.Errorf("the weight in %q is no number of at least 0", part)
		}
		(*f.value)[strings.TrimSpace(part[:at])] = weight
	}
	return nil
}

func (f weights) Type() string { return "NAME=2,..." }
