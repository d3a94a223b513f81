package verilator

import (
	"regexp"
	"strings"
)

// Verilator evaluates a design at both edges of a clock, and most designs do nothing at the falling one but pass on inputs that have
// changed. That is so when the only event that anything waits for is the rising edge of one port, and the combinational logic that
// hangs on inputs, region "ico", leaves the clock alone. Both are read from the generated code; what does not look exactly so is
// evaluated at both edges.

// set is how 5.006, 5.032 and 5.048 set the first trigger.
const set = `(?:\.at\(0U\) = |\.set\(0U, |\[0U\] = \(QData\)\(\(IData\)\(\s*)`

var (
	triggerBody = regexp.MustCompile(`(?s)void Vmodel___024root___eval_triggers(?:_vec)?__act\(Vmodel___024root\* vlSelf\) \{(.*?)\n\}`)
	onlyRising  = regexp.MustCompile(`VactTriggered` + set + `\(\(IData\)\(vlSelf(?:->|Ref\.)(\w+)\)\s*& \(~ \(IData\)\(vlSelf(?:->|Ref\.)(__Vtrig\w*prev\w*?_TOP__(\w+?)(?:__0)?)\)\)\)+;`)
	actSet      = regexp.MustCompile(`VactTriggered(?:\.at\(|\.set\(|\[)`)
	inputBody   = regexp.MustCompile(`(?s)void Vmodel\w*___(?:ico_\w+|eval_ico)\(Vmodel\w*\* vlSelf\) \{(.*?)\n\}`)
	inputSet    = regexp.MustCompile(`VicoTriggered(?:\.at\(|\.set\(|\[\d+U\] =)`)
	inputFirst  = regexp.MustCompile(`VicoTriggered(?:\.at|\.set|\[0U\] = \(\(0xf{15}eULL\s*& vlSelfRef\.__VicoTriggered\[0U\]\)\s*\| \(IData\)\(\(IData\)\(vlSelfRef\.__VicoFirstIteration\)\)\);)`)
	firstInputs = regexp.MustCompile(`(?s)void Vmodel___024root___eval_triggers(?:_vec)?__ico\(Vmodel___024root\* vlSelf\) \{(.*?)\n\}`)
)

var (
	evalBody = regexp.MustCompile(`(?s)void Vmodel___024root___eval\(Vmodel___024root\* vlSelf\) \{(.*?)\n\}`)
	actBody  = regexp.MustCompile(`(?s)void Vmodel___024root___eval_act\(Vmodel___024root\* vlSelf\) \{(.*?)\n\}`)
	called   = regexp.MustCompile(`Vmodel___024root___(\w+)\(vlSelf\)`)
)

// direct tells whether all that a rising edge of the silent clock does is region "nba", so that this can be called without the loop
// around it, which looks for further triggers: region "act" is empty, and there are no others but "ico", which has been evaluated.
func direct(code string) bool {
	act, eval := actBody.FindAllStringSubmatch(code, -1), evalBody.FindAllStringSubmatch(code, -1)
	if len(act) != 1 || len(eval) != 1 || strings.Contains(act[0][1], "// Body") {
		return false
	}
	runs := false
	for _, m := range called.FindAllStringSubmatch(eval[0][1], -1) {
		switch m[1] {
		case "eval_nba":
			runs = true
		case "eval_act", "eval_triggers__act", "dump_triggers__act", "dump_triggers__nba":
		case "eval_ico", "eval_triggers__ico", "dump_triggers__ico":
		default:
			return false
		}
	}
	return runs && strings.Contains(eval[0][1], "vlSelf->__VnbaTriggered.clear();")
}

// inputLogic tells whether there is combinational logic on inputs.
func inputLogic(code string) bool { return strings.Contains(code, "___eval_ico") }

// inputTrigger is what triggers it.
func inputTrigger(code string) string {
	switch {
	case strings.Contains(code, "VicoTriggered.at("):
		return ".at(0U) = true"
	case strings.Contains(code, "VicoTriggered.set("):
		return ".set(0U, true)"
	}
	return "[0U] = 1U"
}

// inputsOnly tells whether the logic on inputs is evaluated once each time and does not look at the clock.
func inputsOnly(code, clock string) bool {
	triggers := firstInputs.FindAllStringSubmatch(code, -1)
	if len(triggers) != 1 || len(inputSet.FindAllString(triggers[0][1], -1)) != 1 || !inputFirst.MatchString(triggers[0][1]) {
		return false
	}
	name := regexp.MustCompile(`\b` + clock + `\b`)
	bodies := inputBody.FindAllStringSubmatch(code, -1)
	for _, body := range bodies {
		if name.MatchString(body[1]) {
			return false
		}
	}
	return len(bodies) > 0
}

// silentClock returns the index of the port whose falling edge changes nothing by itself, or -1, and the variable in which the model
// keeps the port's last value.
func silentClock(code string, ports []Port) (index int, before string) {
	bodies := triggerBody.FindAllStringSubmatch(code, -1)
	if len(bodies) != 1 || len(actSet.FindAllString(bodies[0][1], -1)) != 1 {
		return -1, ""
	}
	m := onlyRising.FindStringSubmatch(bodies[0][1])
	if m == nil || m[1] != m[3] || inputLogic(code) && !inputsOnly(code, m[1]) {
		return -1, ""
	}
	for i, p := range ports {
		if p.cppRef == m[1] && p.Direction == In && p.Width == 1 {
			return i, m[2]
		}
	}
	return -1, ""
}
