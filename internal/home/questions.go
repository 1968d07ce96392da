package home

import (
	"context"
	"slices"

	"muster/discovery"
	"muster/internal/hint"
)

// question is a command's question to the person.
type question struct {
	ID   int    `json:"id"`
	Of   kind   `json:"of"`
	Text string `json:"text"`
	// answer has room for the one answer.
	answer chan string
}

// ask asks the person a question of a command, and waits for the answer. ok is false if there is none.
func (h *Home) ask(ctx context.Context, of kind, text string) (answer string, ok bool) {
	q := question{Of: of, Text: discovery.CleanText(text), answer: make(chan string, 1)}
	h.change(func(s *state) {
		h.lastID++
		q.ID = h.lastID
		s.Questions = append(s.Questions, q)
	})
	select {
	case answer := <-q.answer:
		return answer, true
	case <-ctx.Done():
	case <-h.ctx.Done():
	}
	h.change(func(s *state) { take(&s.Questions, func(other question) bool { return other.ID == q.ID }) })
	return "", false
}

type answerRequest struct {
	ID     int    `json:"id"`
	Answer string `json:"answer"`
}

// takeAnswer passes the person's answer to the command. Only the first one counts.
func (h *Home) takeAnswer(_ context.Context, request answerRequest) (_ any, err error) {
	h.change(func(s *state) {
		q, is := take(&s.Questions, func(other question) bool { return other.ID == request.ID })
		if !is {
			err = hint.Say("home.not-asked")
			return
		}
		q.answer <- request.Answer
	})
	return nil, err
}

// take removes the one that is meant from a list.
func take[T any](list *[]T, isMeant func(T) bool) (taken T, is bool) {
	at := slices.IndexFunc(*list, isMeant)
	if at < 0 {
		return taken, false
	}
	taken = (*list)[at]
	*list = slices.Delete(*list, at, at+1)
	return taken, true
}
