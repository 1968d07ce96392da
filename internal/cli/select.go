package cli

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"muster/internal/option"
	"muster/internal/reports"
	"muster/selection"
	"muster/selection/anomaly"
)

// choice is the command that chooses from saved reports.
type choice struct {
	*program
	criteria selection.Criteria
	law      string
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
  muster select *.json --by even-sides --sides ann=a,ben=a,emil=b,zoe=b
  muster select *.json --sides ann=a,ben=a,emil=b,zoe=b --law faceit-league`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("which reports? Name one file a player")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return c.run(args) },
	}
	flags := cmd.Flags()
	option.Word(cmd, &c.criteria.By, "by", selection.Mean, selection.Rules(), "rule for the choice")
	flags.Var(option.Pings(&c.criteria.Limits), "max-rtt", "nobody may have a ping over this; of several the strictest that can be "+
		"kept holds"+option.InMillis)
	flags.IntVar(&c.criteria.Seats, "players", 0, "free seats the group needs, `N` (default: one for each report)")
	bindAsked(flags, &c.criteria.Wishes, "")
	flags.Var(option.Weights(&c.criteria.Weights), "weights", "players who count for more or less than 1")
	flags.Var(option.Sides(&c.criteria.Sides), "sides", "players who play on side a or b, for --by even-sides and --law")
	flags.StringVar(&c.law, "law", "", "leave out servers that break a league's law on pings, `NAME|FILE`, unless no other is left: see muster laws")
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
	if c.law != "" {
		sides, err := slices.Collect(maps.Values(c.criteria.Sides)), error(nil)
		if !slices.Contains(sides, selection.SideA) || !slices.Contains(sides, selection.SideB) {
			return usagef("--law needs players on both sides: --sides ann=a,ben=b")
		}
		if c.criteria.Law, err = c.program.law(c.law); err != nil {
			return err
		}
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
	s := selection.Select(servers, table, c.criteria)
	s.Doubts = anomaly.Find(servers.List, table)
	if c.json {
		err = json.NewEncoder(c.out).Encode(&s)
	} else {
		reports.Show(c.out, c.screen.Language, s, servers)
	}
	if err == nil && s.Chosen == nil {
		err = errNothing
	}
	return err
}
