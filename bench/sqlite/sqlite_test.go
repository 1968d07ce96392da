// Package sqlite measures how well SQLite keeps the promises of muster/host/store. It is a module
// of its own, so that the program does not depend on it. bench/experiments/store.md has the results.
package sqlite

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/ncruces/go-sqlite3/driver"
	_ "modernc.org/sqlite"
)

var (
	driver  = flag.String("driver", "sqlite3", "sqlite3 is ncruces/go-sqlite3, sqlite is modernc.org/sqlite")
	journal = flag.String("journal", "wal", "wal, or a rollback journal: persist, truncate")
	rooms   = flag.Int("rooms", 0, "how many rooms of 30 kB TestSave keeps")
	savers  = flag.Int("savers", 32, "how many save at once in TestSave")
	lasts   = flag.Duration("lasts", 30*time.Second, "how long TestSave saves")
)

// file is a store in SQLite. One writer commits all waiting saves together. A room has two rows,
// each with its own sum, and its saves alternate between them.
type file struct {
	db      *sql.DB
	waiting chan save
	done    sync.WaitGroup
}

type save struct {
	key    string
	number int
	data   []byte
	kept   chan error
}

const put = `INSERT INTO record (key, generation, number, sum, data) VALUES (?1, ?2 % 2, ?2, ?3, ?4)
	ON CONFLICT (key, generation) DO UPDATE SET number = ?2, sum = ?3, data = ?4`

func open(name string) (*file, error) {
	db, err := sql.Open(*driver, "file:"+name)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	for _, pragma := range []string{
		"locking_mode = EXCLUSIVE", "mmap_size = 0", "page_size = 4096",
		"journal_mode = " + *journal, "synchronous = FULL", "auto_vacuum = NONE", "cell_size_check = ON",
	} {
		if _, err := db.Exec("PRAGMA " + pragma); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	_, err = db.Exec(`CREATE TABLE IF NOT EXISTS record (key TEXT NOT NULL, generation INTEGER NOT NULL,
		number INTEGER NOT NULL, sum BLOB NOT NULL, data BLOB NOT NULL, PRIMARY KEY (key, generation))`)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	f := &file{db: db, waiting: make(chan save, 1024)}
	f.done.Go(f.write)
	return f, nil
}

func (f *file) write() {
	for first := range f.waiting {
		group := []save{first}
		for more := true; more && len(group) < 1024; {
			select {
			case s, open := <-f.waiting:
				if more = open; open {
					group = append(group, s)
				}
			default:
				more = false
			}
		}
		err := f.commit(group)
		for _, s := range group {
			s.kept <- err
		}
	}
}

func (f *file) commit(group []save) error {
	tx, err := f.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	statement, err := tx.Prepare(put)
	if err != nil {
		return err
	}
	defer statement.Close()
	for _, s := range group {
		if _, err := statement.Exec(s.key, s.number, sumOf(s.key, s.number, s.data), s.data); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func sumOf(key string, number int, data []byte) []byte {
	hash := sha256.New()
	fmt.Fprintf(hash, "%s %d ", key, number)
	hash.Write(data)
	return hash.Sum(nil)[:16]
}

func (f *file) save(key string, number int, data []byte) error {
	s := save{key, number, data, make(chan error, 1)}
	f.waiting <- s
	return <-s.kept
}

func (f *file) close() error {
	close(f.waiting)
	f.done.Wait()
	return f.db.Close()
}

// salvage reads the number of the newest whole row of each room. It gets as far past damage as
// SQLite can: from both ends of the table, and of the index. It returns the first damage.
func salvage(name string) (newest map[string]int, damage error) {
	newest = map[string]int{}
	db, err := sql.Open(*driver, "file:"+name)
	if err != nil {
		return newest, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	f := &file{db: db}
	for _, pragma := range []string{"writable_schema = ON", "locking_mode = EXCLUSIVE", "mmap_size = 0"} {
		_, failed := db.Exec("PRAGMA " + pragma)
		damage = errors.Join(damage, failed)
	}
	var check string
	if err := f.db.QueryRow("PRAGMA integrity_check(1)").Scan(&check); err != nil || check != "ok" {
		damage = errors.Join(damage, err, fmt.Errorf("integrity: %s", check))
	}
	for _, query := range []string{"NOT INDEXED ORDER BY rowid", "NOT INDEXED ORDER BY rowid DESC", "ORDER BY key, generation", "ORDER BY key DESC, generation DESC"} {
		damage = errors.Join(damage, f.scan("SELECT key, number, sum, data FROM record "+query, newest))
		if damage == nil {
			return newest, nil
		}
	}
	return newest, damage
}

func (f *file) scan(query string, newest map[string]int) (damage error) {
	rows, err := f.db.Query(query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var key string
		var number int
		var sum, data []byte
		err := rows.Scan(&key, &number, &sum, &data)
		if err == nil && !bytes.Equal(sum, sumOf(key, number, data)) {
			err = fmt.Errorf("a row of %q is damaged", key)
		}
		if err != nil {
			damage = errors.Join(damage, err)
			continue
		}
		newest[key] = max(newest[key], number)
	}
	return errors.Join(damage, rows.Err())
}

// TestDamage counts the losses from one changed bit, and from a file that ends too soon.
func TestDamage(t *testing.T) {
	for _, size := range []struct{ rooms, bytes, saves int }{{3, 180, 5}, {1000, 2000, 3}} {
		t.Run(fmt.Sprintf("%d rooms of %d bytes", size.rooms, size.bytes), func(t *testing.T) {
			dir := t.TempDir()
			name := filepath.Join(dir, "rooms.db")
			f, err := open(name)
			if err != nil {
				t.Fatal(err)
			}
			saves := 0
			for number := 1; number <= size.saves; number++ {
				var saving sync.WaitGroup
				for room := range size.rooms {
					saving.Go(func() {
						key := fmt.Sprint("ROOM", room)
						if err := f.save(key, number, bytes.Repeat([]byte(key+" "), size.bytes/8)); err != nil {
							t.Error(err)
						}
					})
					saves++
				}
				saving.Wait()
			}
			parts := map[string][]byte{} // as a kill leaves it: with the journal
			for _, part := range []string{name, name + "-wal", name + "-journal"} {
				if data, err := os.ReadFile(part); err == nil && len(data) > 0 {
					parts[filepath.Base(part)] = data
				}
			}
			f.close()
			intact := t.TempDir()
			for part, data := range parts {
				if err := os.WriteFile(filepath.Join(intact, part), data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if newest, damage := salvage(filepath.Join(intact, "rooms.db")); damage != nil || len(newest) != size.rooms || newest["ROOM0"] != size.saves {
				t.Fatalf("undamaged it has %d rooms, %v", len(newest), damage)
			}
			random := rand.New(rand.NewPCG(1, 2))
			for part, whole := range parts {
				try := func(what string, change func(data []byte, at int) []byte) {
					const tries = 300
					tooMany, silent, all, worst := 0, 0, 0, 0
					for range tries {
						at := random.IntN(len(whole))
						damaged := filepath.Join(t.TempDir(), "rooms.db")
						for other, data := range parts {
							if other == part {
								data = change(bytes.Clone(data), at)
							}
							if err := os.WriteFile(filepath.Join(filepath.Dir(damaged), other), data, 0o600); err != nil {
								t.Fatal(err)
							}
						}
						newest, damage := salvage(damaged)
						lost := size.rooms * size.saves
						for _, number := range newest {
							lost -= number
						}
						worst = max(worst, lost)
						tooMany += count(lost > 1)
						silent += count(lost > 0 && damage == nil)
						all += count(len(newest) == 0)
					}
					t.Logf("%s, %s of %d bytes, %d times: more than one save lost %d times, at most %d of %d; every room lost %d times; saves lost and nothing said %d times",
						*journal, what, len(whole), tries, tooMany, worst, saves, all, silent)
				}
				try("a bit of "+part, func(data []byte, at int) []byte { data[at] ^= 1 << random.IntN(8); return data })
				try("the end of "+part, func(data []byte, at int) []byte { return data[:at] })
			}
		})
	}
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// TestSave saves rooms of 30 kB by many at once, while SQLite writes its journal back.
func TestSave(t *testing.T) {
	if *rooms == 0 {
		t.Skip("-rooms says how many")
	}
	name := filepath.Join(t.TempDir(), "rooms.db")
	f, err := open(name)
	if err != nil {
		t.Fatal(err)
	}
	numbers := make([]int, *rooms)
	random := rand.NewChaCha8([32]byte{})
	each := func(do func(saver int)) {
		var saving sync.WaitGroup
		for saver := range *savers {
			saving.Go(func() { do(saver) })
		}
		saving.Wait()
	}
	data := make([]byte, 30_000)
	random.Read(data)
	save := func(room int) {
		numbers[room]++
		if err := f.save(fmt.Sprint("ROOM", room), numbers[room], data); err != nil {
			t.Error(err)
		}
	}
	for range 2 {
		each(func(saver int) {
			for room := saver; room < *rooms; room += *savers {
				save(room)
			}
		})
	}
	took := make([][]time.Duration, *savers)
	began := time.Now()
	each(func(saver int) {
		random := rand.New(rand.NewPCG(1, uint64(saver)))
		for time.Since(began) < *lasts {
			start := time.Now()
			save(saver + *savers*random.IntN(*rooms / *savers))
			took[saver] = append(took[saver], time.Since(start))
		}
	})
	all := slices.Concat(took...)
	slices.Sort(all)
	t.Logf("%s %s: %d rooms, %d savers: %.0f saves a second, p50 %v, p99 %v, longest %v", *driver, *journal, *rooms, *savers,
		float64(len(all))/lasts.Seconds(), all[len(all)/2], all[len(all)*99/100], all[len(all)-1])
	f.close()
	info, _ := os.Stat(name)
	runtime.GC()
	before := resident()
	start := time.Now()
	newest, err := salvage(name)
	t.Logf("it opens and checks %d rooms of %d MB in %v, with %d kB more memory at most than before, %v", len(newest), info.Size()>>20, time.Since(start), resident()-before, err)
}

// resident returns the most memory that the process has had, in kB.
func resident() (kb int) {
	status, _ := os.ReadFile("/proc/self/status")
	if _, rest, found := strings.Cut(string(status), "VmHWM:"); found {
		fmt.Sscan(rest, &kb)
	}
	return kb
}
