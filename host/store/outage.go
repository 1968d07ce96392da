package store

import "time"

// remindEvery is how often the log repeats that an outage lasts. An operator sees it soon, and it
// makes at most 1,440 lines a day.
const remindEvery = time.Minute

// Outage decides when the log reports that a store keeps nothing: at once, each minute, and when it
// is over. The zero value is no outage.
type Outage struct{ began, told time.Time }

// Fails notes that the store failed at a time. It returns when the outage began, and whether to log
// it now.
func (o *Outage) Fails(now time.Time) (since time.Time, tell bool) {
	if o.began.IsZero() {
		o.began = now
	}
	if tell = o.told.IsZero() || now.Sub(o.told) >= remindEvery; tell {
		o.told = now
	}
	return o.began, tell
}

// Ends notes that the store works. It returns how long the outage lasted, and whether the log has
// reported it.
func (o *Outage) Ends(now time.Time) (lasted time.Duration, wasTold bool) {
	if o.began.IsZero() {
		return 0, false
	}
	lasted, wasTold = now.Sub(o.began), !o.told.IsZero()
	*o = Outage{}
	return lasted, wasTold
}
