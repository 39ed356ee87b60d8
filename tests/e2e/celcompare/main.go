// Celcompare asks Kubernetes' evaluator of device selectors and Reprieve's the same questions: random expressions of
// the part of CEL that Reprieve knows, over random devices. Both answer true, false or "fails" (at reading or at
// evaluation: Kubernetes finds at reading what Reprieve finds when it evaluates, and the other way round).
//
//	celcompare PROBE SEED COUNT     PROBE answers one JSON line for each JSON line (../cel_probe)
//
// It prints every difference and ends with 1 where there is one.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"strconv"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/dynamic-resource-allocation/cel"
)

type question struct {
	Expression string                                 `json:"expression"`
	Driver     string                                 `json:"driver"`
	Multiple   bool                                   `json:"allowMultipleAllocations"`
	Attributes map[string]resourceapi.DeviceAttribute `json:"attributes"`
	Capacity   map[string]string                      `json:"capacity"`
	qualified  map[resourceapi.QualifiedName]resourceapi.DeviceAttribute
	amounts    map[resourceapi.QualifiedName]resourceapi.DeviceCapacity
}

type dice struct{ *rand.Rand }

func (d dice) pick(options ...string) string { return options[d.Intn(len(options))] }

var (
	texts    = []string{"A100", "H100", "", "a-b", "NVIDIA A100-SXM4", "tpu-v6e-slice", "Flex"}
	versions = []string{"1.0.0", "1.2.3", "2.0.0-alpha.1", "535.104.5", "0.0.1"}
	amounts  = []string{"0", "1", "10Gi", "40Gi", "80Gi", "1500m", "81920Mi", "1e3", "2k"}
	domains  = []string{"gpu.example.com", "other.example.com", "missing.example.com"}
)

func (d dice) device() question {
	q := question{
		Driver:     "gpu.example.com",
		Multiple:   d.Intn(2) == 0,
		Attributes: map[string]resourceapi.DeviceAttribute{},
		Capacity:   map[string]string{},
		qualified:  map[resourceapi.QualifiedName]resourceapi.DeviceAttribute{},
		amounts:    map[resourceapi.QualifiedName]resourceapi.DeviceCapacity{},
	}
	for _, domain := range domains[:2] {
		for _, name := range []string{"text", "number", "flag", "version"} {
			if d.Intn(5) == 0 {
				continue
			}
			var value resourceapi.DeviceAttribute
			switch name {
			case "text":
				text := d.pick(texts...)
				value.StringValue = &text
			case "number":
				number := int64(d.Intn(9) - 4)
				value.IntValue = &number
			case "flag":
				flag := d.Intn(2) == 0
				value.BoolValue = &flag
			case "version":
				version := d.pick(versions...)
				value.VersionValue = &version
			}
			key := domain + "/" + name
			if domain == q.Driver && d.Intn(2) == 0 {
				key = name
			}
			q.Attributes[key] = value
			q.qualified[resourceapi.QualifiedName(key)] = value
		}
		if d.Intn(4) > 0 {
			amount := d.pick(amounts...)
			key := domain + "/memory"
			q.Capacity[key] = amount
			q.amounts[resourceapi.QualifiedName(key)] = resourceapi.DeviceCapacity{Value: resource.MustParse(amount)}
		}
	}
	return q
}

func (d dice) attribute(name string) string {
	return fmt.Sprintf(`device.attributes["%s"].%s`, d.pick(domains...), name)
}

func (d dice) amount() string {
	if d.Intn(3) == 0 {
		return fmt.Sprintf(`quantity("%s")`, d.pick(amounts...))
	}
	return fmt.Sprintf(`device.capacity["%s"].memory`, d.pick(domains...))
}

func (d dice) version() string {
	if d.Intn(3) == 0 {
		return fmt.Sprintf(`semver("%s")`, d.pick(versions...))
	}
	return d.attribute("version")
}

func (d dice) text(depth int) string {
	switch d.Intn(7) {
	case 0, 1:
		return strconv.Quote(d.pick(texts...))
	case 2:
		return "device.driver"
	case 3:
		if depth > 0 {
			return fmt.Sprintf("%s.%s()", d.text(depth-1), d.pick("lowerAscii", "upperAscii", "trim"))
		}
	case 4:
		if depth > 0 {
			return fmt.Sprintf("%s.substring(%d)", d.text(depth-1), d.Intn(4))
		}
	case 5:
		if depth > 0 {
			return fmt.Sprintf("(%s + %s)", d.text(depth-1), d.text(depth-1))
		}
	}
	return d.attribute("text")
}

func (d dice) number(depth int) string {
	switch d.Intn(8) {
	case 0, 1:
		return strconv.Itoa(d.Intn(9) - 4)
	case 2:
		return fmt.Sprintf("size(%s)", d.text(depth-1))
	case 3:
		if depth > 0 {
			return fmt.Sprintf("(%s %s %s)", d.number(depth-1), d.pick("+", "-", "*", "/", "%"), d.number(depth-1))
		}
	case 4:
		return fmt.Sprintf("%s.%s()", d.version(), d.pick("major", "minor", "patch"))
	case 5:
		return fmt.Sprintf("%s.compareTo(%s)", d.amount(), d.amount())
	case 6:
		return fmt.Sprintf(`%s.indexOf("%s")`, d.text(depth-1), d.pick("A", "0", ""))
	}
	return d.attribute("number")
}

func (d dice) truth(depth int) string {
	if depth <= 0 {
		return d.pick("true", "false", "device.allowMultipleAllocations", d.attribute("flag"))
	}
	compare := func() string { return d.pick("==", "!=", "<", "<=", ">", ">=") }
	switch d.Intn(17) {
	case 0:
		return fmt.Sprintf("(%s && %s)", d.truth(depth-1), d.truth(depth-1))
	case 1:
		return fmt.Sprintf("(%s || %s)", d.truth(depth-1), d.truth(depth-1))
	case 2:
		return "!" + d.truth(depth-1)
	case 3:
		return fmt.Sprintf("(%s ? %s : %s)", d.truth(depth-1), d.truth(depth-1), d.truth(depth-1))
	case 4:
		return fmt.Sprintf("(%s %s %s)", d.number(depth-1), compare(), d.number(depth-1))
	case 5:
		return fmt.Sprintf("(%s %s %s)", d.text(depth-1), compare(), d.text(depth-1))
	case 6:
		return fmt.Sprintf(`%s.%s("%s")`, d.text(depth-1), d.pick("startsWith", "endsWith", "contains"), d.pick("A", "100", "-", ""))
	case 7:
		return fmt.Sprintf(`%s.matches("%s")`, d.text(depth-1), d.pick("^A.*", "[0-9]+$", "(?i)nvidia", "a|b"))
	case 8:
		return fmt.Sprintf("%s.%s(%s)", d.amount(), d.pick("isGreaterThan", "isLessThan"), d.amount())
	case 9:
		return fmt.Sprintf("%s.%s(%s)", d.version(), d.pick("isGreaterThan", "isLessThan"), d.version())
	case 10:
		return fmt.Sprintf("has(%s)", d.attribute(d.pick("text", "number", "flag", "version", "unknown")))
	case 11:
		return fmt.Sprintf("(%s in [%s, %s])", d.text(depth-1), d.text(0), d.text(0))
	case 12:
		return fmt.Sprintf(`(%s in device.attributes["%s"])`, d.pick(`"text"`, `"flag"`, `"unknown"`), d.pick(domains...))
	case 13:
		name := d.pick("number", "unknown")
		return fmt.Sprintf(`(device.attributes["%s"].?%s.orValue(%d) == %s)`, d.pick(domains...), name, d.Intn(3), d.number(depth-1))
	case 14:
		return fmt.Sprintf("[%s, %s].%s(x, x %s %s)", d.number(depth-1), d.number(depth-1), d.pick("all", "exists", "exists_one"), compare(), d.number(depth-1))
	case 15:
		return fmt.Sprintf("cel.bind(x, %s, x %s x)", d.number(depth-1), compare())
	}
	return fmt.Sprintf("(%s == %s)", d.attribute(d.pick("text", "number", "flag", "version")), d.attribute(d.pick("text", "number", "flag", "version")))
}

// As upstream does it for a request: compiled with the limits that hold when it is read, evaluated on one device.
func upstream(q question) string {
	result := cel.GetCompiler(cel.Features{EnableConsumableCapacity: true}).CompileCELExpression(q.Expression, cel.Options{})
	if result.Error != nil {
		return "fails"
	}
	matches, _, err := result.DeviceMatches(context.Background(), cel.Device{
		Driver: q.Driver, AllowMultipleAllocations: &q.Multiple, Attributes: q.qualified, Capacity: q.amounts,
	})
	if err != nil {
		return "fails"
	}
	return strconv.FormatBool(matches)
}

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	return value
}

func main() {
	seed := must(strconv.ParseInt(os.Args[2], 10, 64))
	count := must(strconv.Atoi(os.Args[3]))
	d := dice{rand.New(rand.NewSource(seed))}
	probe := exec.Command(os.Args[1])
	probe.Stderr = os.Stderr
	in := must(probe.StdinPipe())
	out := bufio.NewScanner(must(probe.StdoutPipe()))
	out.Buffer(nil, 1<<20)
	if err := probe.Start(); err != nil {
		must(0, err)
	}
	different := 0
	answers := map[string]int{}
	for range count {
		q := d.device()
		q.Expression = d.truth(1 + d.Intn(3))
		line := must(json.Marshal(q))
		must(in.Write(append(line, '\n')))
		if !out.Scan() {
			fmt.Fprintf(os.Stderr, "the probe ended at %s\n", line)
			os.Exit(2)
		}
		var ours struct{ Answer, Why string }
		if err := json.Unmarshal(out.Bytes(), &ours); err != nil {
			must(0, err)
		}
		theirs := upstream(q)
		answers[theirs]++
		if ours.Answer != theirs {
			different++
			fmt.Printf("%s\n  kubernetes: %s, reprieve: %s %s\n", line, theirs, ours.Answer, ours.Why)
		}
	}
	in.Close()
	fmt.Printf("%d expressions: %v, %d different\n", count, answers, different)
	if different > 0 || answers["true"] == 0 || answers["false"] == 0 || answers["fails"] == 0 {
		os.Exit(1)
	}
}
