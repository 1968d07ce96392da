package store

import "time"

// remindEvery is how often an operator reads of an outage that lasts: often enough for who
// looks into the log, and 1,440 lines a day at most.
const remindEvery = time.Minute

// Outage decides when the log tells of a store that keeps nothing: at once, again each
// minute, and when it is over. Its zero value is no outage.
type Outage struct{ began, told time.Time }

// Fails notes that the store keeps nothing at a time. It returns since when, and whether
// the log has to tell of it now.
func (o *Outage) Fails(now time.Time) (since time.Time, tell bool) {
	if o.began.IsZero() {
		o.began = now
	}
	if tell = o.told.IsZero() || now.Sub(o.told) >= remindEvery; tell {
		o.told = now
	}
	return o.began, tell
}

// Ends notes that the store keeps what it is told. It returns how long it did not, and
// whether the log has told of that.
func (o *Outage) Ends(now time.Time) (lasted time.Duration, wasTold bool) {
	if o.began.IsZero() {
		return 0, false
	}
	lasted, wasTold = now.Sub(o.began), !o.told.IsZero()
	*o = Outage{}
	return lasted, wasTold
}
