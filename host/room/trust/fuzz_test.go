package trust

import (
	"encoding/json"
	"testing"
	"time"

	"muster/host/room/people"
)

// FuzzDoubts reads doubts that anything may have written, and judges numbers that players may make
// up. In any case most players count, and so does everybody that the organiser vouches for.
func FuzzDoubts(f *testing.F) {
	f.Add([]byte(golden), []byte{1, 2, 3, 0, 255, 1, 1, 1, 1, 1, 1, 1, 9})
	f.Add([]byte(`{}`), []byte{200, 10, 20, 255, 255, 30, 40})
	f.Fuzz(func(t *testing.T, saved, said []byte) {
		var d Doubts
		const servers = 12
		if json.Unmarshal(saved, d.State()) != nil || d.State().Validate(four, servers) != nil {
			return
		}
		b := world(servers, four, func(player, server int) int {
			switch at := servers*player + server; {
			case at >= len(said):
				return honest(player, server)
			case said[at] == 255:
				return lost
			default:
				return int(said[at])
			}
		})
		excluded := len(d.excluded(four))
		v := d.Judge(b, four, Measured)
		if n := len(d.excluded(four)); n > excluded && 2*n >= len(four)+excluded {
			t.Errorf("%d of %d do not count: %q", n, len(four), v.Notes)
		}
		for _, player := range v.LeftOut {
			if d.state.Players[player].Vouched || !d.IsExcluded(player) {
				t.Errorf("%s is left out: %q", player, v.Notes)
			}
		}
		if o, others := d.Outvote(b); len(o.LeftOut) > 1 || len(o.LeftOut)+len(others) != len(four) {
			t.Errorf("left out are %v", o.LeftOut)
		}
		if selected := b.For(people.Texts(four)).Select(); selected.Chosen != nil {
			d.Disputed(b, &selected, Forecast{Silent: map[people.ID][]int{"dan": {0, 1}}}, []int{2})
			trial := d.Try(b, &selected, map[people.ID]Ping{"dan": {time.Millisecond, time.Millisecond}})
			for trial.NextFloor() {
				trial.Chose(&selected)
			}
			if notes := trial.End(); len(notes) > 0 {
				t.Errorf("the same is chosen, and yet %q", notes)
			}
			d.Overrule(b, &selected, four, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
		}
		for _, player := range four {
			if d.Reason(player, &b.Servers).IsZero() != (d.IsBelieved(player) && len(d.Raised(player)) == 0) {
				t.Errorf("%s is believed: %v, and doubted: %v", player, d.IsBelieved(player), d.Reason(player, &b.Servers))
			}
			if d.Vouch(player); !d.IsBelieved(player) {
				t.Errorf("%s is vouched for, and not believed", player)
			}
		}
		d.List(b, four, nil)
	})
}
