package packaging_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"text/tabwriter"

	"pinch/budget"
)

// What of a long conversation can still be reached: 40 facts among 200 messages, in a window that holds about 40.

const (
	factTurns = 200
	mustReach = 0.9
)

// fact is something that a person says once in passing, and how they ask for it weeks later.
type fact struct{ Say, Ask, Key string }

// found counts facts by where they were found.
type found struct{ prompt, recall, either, newest, asked int }

// silences are the ways in which summaries keep nothing.
var silences = []struct {
	name  string
	notes []rule
}{
	{"junk", []rule{{When: "weeks", Say: "NO_REPLY"}, {Say: strings.Repeat("- Please keep the thing in mind; the next thing on the list is done today, thanks.\n", 3)}}},
	{"away", []rule{{Fail: 503}}},
	{"plausible junk", []rule{{When: "weeks", Say: "NO_REPLY"}, {Say: "- The person was thinking about the garden fence.\n" +
		"- The children asked about birthday presents.\n- Somebody on the radio talked about the school bus, tomato soup and the dentist.\n"}}},
}

// TestFactsStayInReach prints the engine window, or each of the engines in $PINCH_ENGINES.
func TestFactsStayInReach(t *testing.T) {
	m := newMeter(t)
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "\nengine\tfacts\tsummaries\tin the prompt\tby recall\teither\tnewest messages\twhen asked\t\n")
	for _, engine := range strings.Fields(cmp.Or(os.Getenv("PINCH_ENGINES"), "window")) {
		for _, set := range []string{"facts-a.json", "facts-b.json"} { // for tuning, and for judging what was tuned
			facts := fixture[[]fact](t, set)
			for _, s := range silences {
				t.Run(engine+" "+set+" "+s.name, func(t *testing.T) {
					f := reach(t, &meter{t, m.url}, engine, facts, s.notes)
					fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%d\t%d of %d\t%d\t%d\t\n", engine, set, s.name, f.prompt, f.recall, f.either, len(facts), f.newest, f.asked)
					if float64(f.either) < mustReach*float64(len(facts)) {
						t.Errorf("%d of %d facts are in reach", f.either, len(facts))
					}
				})
			}
		}
	}
	fmt.Fprintln(table)
	table.Flush()
}

// reach holds the conversation and looks for each fact.
func reach(t *testing.T, m *meter, engine string, facts []fact, notes []rule) (f found) {
	m.reset(lines{Script: smallTalk, Notes: notes})
	dir := state(t, local(m.url)+"[agent]\nengine = \""+engine+"\"\n")
	serve(t, dir)
	g := visit(t, dir)
	var said []string
	for i := range factTurns {
		text := chatter(i)
		if each := factTurns / len(facts); i%each == each/2 && i/each < len(facts) {
			text = facts[i/each].Say
			if i%2 == 0 { // in passing
				text = chatter(i) + " " + text + " " + chatter(i+1)
			}
		}
		reply, _ := g.say(text)
		g.settle()
		said = append(said, text, reply)
	}
	request, _ := m.last()
	var prompt strings.Builder
	for _, message := range request.Chat.Messages {
		prompt.WriteString(message.Content + "\n")
	}
	newest := newestThatFit(said, request.Chat.Messages[0].Content+string(request.Chat.Tools))
	for _, fact := range facts {
		args, _ := json.Marshal(map[string]string{"query": fact.Ask})
		answers, _ := g.say("/do recall " + string(args))
		if n := strings.Count(answers, "\n") + 1; n > 5 {
			t.Errorf("%d answers: %s", n, answers)
		}
		inPrompt, inRecall := holds(prompt.String(), fact.Key), holds(answers, fact.Key)
		f.prompt += one(inPrompt)
		f.recall += one(inRecall)
		f.either += one(inPrompt || inRecall)
		f.newest += one(holds(newest, fact.Key))
		if !inPrompt && !inRecall {
			t.Logf("out of reach: %s\n%s", fact.Ask, answers)
		}
	}
	for _, fact := range facts { // what the prompt holds when a person really asks
		g.say(fact.Ask)
		g.settle()
		request, _ := m.last()
		f.asked += one(holds(string(request.Body), fact.Key))
	}
	t.Log("epochs: ", ask(t, dir, "SELECT group_concat(n || ' of ' || reason, ', ') FROM (SELECT reason, count(*) n FROM epochs GROUP BY reason)"))
	for i, r := range m.log() {
		if r.Dropped != 0 || r.Asked > r.Window || r.Orphans != 0 {
			t.Errorf("request %d: %+v", i+1, r)
		}
	}
	return f
}

func holds(text, key string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(key))
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// newestThatFit is the simplest of memories: the newest messages that fit behind a head.
func newestThatFit(said []string, head string) string {
	plan := budget.Split(budget.DefaultWindow, 8)
	room := plan.Window - plan.Reply - budget.Tokens(head)
	i := len(said)
	for i > 0 {
		if room -= budget.Tokens(said[i-1]) + budget.MessageTokens; room < 0 {
			break
		}
		i--
	}
	return strings.Join(said[i:], "\n")
}

// smallTalk is what the model says; no fact is in it.
var smallTalk = []rule{
	{When: `\p{Han}|[一-龥]`, Say: "好的，我知道了。还有什么要一起看看的吗？"},
	{When: `\?`, Say: "That depends on the day, but in general I would start with the simplest way and see how it goes from there."},
	{When: ".", Say: "Good to know. I keep it in mind; tell me when there is more to it."},
}

// chatter is one of the messages between the facts, of everyday matters with the same kind of words.
func chatter(i int) string {
	english := []string{
		"How long does %s usually take, and is it worth starting %s?",
		"I was thinking about %s again %s, but nothing came of it.",
		"Can you explain in two sentences how %s works? I never understood it %s.",
		"Somebody on the radio talked about %s %s and I had to laugh.",
		"What would you do first about %s, if you had the time %s?",
		"The children asked about %s %s, and I had no good answer.",
	}
	things := []string{"the garden fence", "a new bicycle", "learning the piano", "the school bus", "cleaning the boiler room", "old photographs",
		"the price of coffee", "a trip by train", "the neighbour's cat", "green paint", "tomato soup", "the swimming pool", "a better ladder",
		"the wedding season", "door locks", "the alarm clock", "a violin concert", "the dentist", "laptop batteries", "the weather in the valley",
		"recipes with herbs", "birthday presents", "the number of bins in our street", "a hut in the woods", "water bills", "tyres for the winter"}
	times := []string{"this week", "before lunch", "in the evening", "after the holidays", "today", "next month", "on Sunday"}
	chinese := []string{"今天天气怎么样，适合出门散步吗？", "晚饭吃什么好？冰箱里只有鸡蛋和青菜。", "帮我想一个周末带孩子去玩的地方。", "水管有点响，是不是该找人看看？",
		"最近书房有点乱，怎么整理比较快？", "医院人多吗？一般什么时候去比较好？"}
	if i%7 == 3 {
		return chinese[i/7%len(chinese)]
	}
	return fmt.Sprintf(english[i%len(english)], things[i*11%len(things)], times[i*5%len(times)])
}
