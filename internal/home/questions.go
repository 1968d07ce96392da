package home

import (
	"context"
	"slices"
	"sync"

	"muster/discovery"
	"muster/internal/hint"
)

// question is a command's question to the person.
type question struct {
	ID int `json:"id"`
	// Of is the task: "room", "go", "watch" or "beacon".
	Of   string `json:"of"`
	Text string `json:"text"`
}

// questions are the commands' questions that wait for an answer. The zero value has none.
type questions struct {
	// wake wakes the pages after a change. ended is closed when nobody can answer any more.
	wake  func()
	ended <-chan struct{}

	mu      sync.Mutex // guards what follows
	last    int        // the ID of the last question
	open    []question
	answers map[int]chan string
}

// ask asks the person a question of a task, and waits for the answer. ok is false if there is none.
func (q *questions) ask(ctx context.Context, of, text string) (answer string, ok bool) {
	id, answers := q.add(of, text)
	defer q.remove(id)
	select {
	case answer := <-answers:
		return answer, true
	case <-ctx.Done():
		return "", false
	case <-q.ended:
		return "", false
	}
}

func (q *questions) add(of, text string) (id int, answers <-chan string) {
	answer := make(chan string, 1)
	q.change(func() {
		q.last++
		id = q.last
		if q.answers == nil {
			q.answers = map[int]chan string{}
		}
		q.answers[id] = answer
		q.open = append(slices.Clip(q.open), question{id, of, discovery.CleanText(text)})
	})
	return id, answer
}

func (q *questions) remove(id int) {
	q.change(func() {
		delete(q.answers, id)
		q.open = slices.DeleteFunc(slices.Clone(q.open), func(other question) bool { return other.ID == id })
	})
}

// change changes the questions, and wakes the pages.
func (q *questions) change(how func()) {
	q.mu.Lock()
	how()
	q.mu.Unlock()
	if q.wake != nil {
		q.wake()
	}
}

// list returns the open questions, the oldest first.
func (q *questions) list() []question {
	q.mu.Lock()
	defer q.mu.Unlock()
	return append([]question{}, q.open...)
}

type answerRequest struct {
	ID     int    `json:"id"`
	Answer string `json:"answer"`
}

// takeAnswer passes the person's answer to the command. Only the first one counts.
func (q *questions) takeAnswer(_ context.Context, request answerRequest) (any, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	answers, is := q.answers[request.ID]
	if !is {
		return nil, hint.Say("home.not-asked")
	}
	delete(q.answers, request.ID)
	answers <- request.Answer
	return nil, nil
}
