package nearest

import "testing"

func TestDidYouMean(t *testing.T) {
	names := []string{"hx8k", "icebreaker", "two-link", "one-link", "self-loop"}
	for name, want := range map[string]string{
		"hx9k": "hx8k", "HX8K": "hx8k", "hx": "hx8k", "ice": "icebreaker", "icebraeker": "icebreaker", "twolink": "two-link", "two": "two-link",
		"selfloop": "self-loop", "zybo": "", "": "", "arty-a7": "",
	} {
		if want != "" {
			want = " (did you mean " + want + "?)"
		}
		if got := Hint(name, names); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "", 3}, {"", "ab", 2}, {"kitten", "sitting", 3}, {"hx9k", "hx8k", 1}, {"ab", "ba", 2}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("%q to %q is %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
