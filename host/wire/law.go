package wire

import (
	"cmp"
	"encoding/json"
	"errors"
	"reflect"
	"strings"

	"muster/selection/law"
)

// Law is the law of a match, nil for none. In JSON it is the name of a law that comes with Muster, or
// a whole law, a muster.law/1 document.
type Law struct{ *law.Law }

// IsZero reports whether there is no law.
func (l Law) IsZero() bool { return l.Law == nil }

// MarshalJSON writes a known law by its name.
func (l Law) MarshalJSON() ([]byte, error) {
	switch {
	case l.Law == nil:
		return []byte(`""`), nil
	case reflect.DeepEqual(l.Law, law.Known(l.Name)):
		return json.Marshal(l.Name)
	}
	return json.Marshal(l.Law)
}

// UnmarshalJSON refuses a name that nobody knows, and a law that is malformed or contradicts itself.
func (l *Law) UnmarshalJSON(data []byte) (err error) {
	var name string
	if json.Unmarshal(data, &name) == nil {
		if l.Law = law.Known(name); l.Law == nil && name != "" {
			return impossible("refused.law-unknown", "names", law.Names())
		}
		return nil
	}
	l.Law, err = law.Read(data)
	if faults := law.Faults(nil); errors.As(err, &faults) {
		var why []string
		for _, fault := range faults {
			why = append(why, strings.TrimPrefix(law.Faults{fault}.Error(), "law: "))
		}
		return impossible("refused.law", "faults", strings.Join(why, "; "))
	}
	return err
}

// checkLaw refuses an order of the captains' moves beside a law that says itself what follows if they
// do not agree, or whose own order always decides.
func (s *Settings) checkLaw() error {
	if l := s.Law.Law; l != nil && s.Order != "" && (l.Disagreement.Way != "" || len(l.Rules) == 0) {
		return impossible("refused.law-order", "league", l.League, "says", cmp.Or(l.Disagreement.Says, l.Order.Says))
	}
	return nil
}
