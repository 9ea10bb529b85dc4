// What Redpanda Console asks of a registry, by its own client: the pages on schemas, from the list to a delete.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sort"
	"strings"

	"github.com/twmb/franz-go/pkg/sr"
)

const first = `{"type":"record","name":"Order","fields":[{"name":"id","type":"long"}]}`
const second = `{"type":"record","name":"Order","fields":[{"name":"id","type":"long"},{"name":"note","type":"string","default":""}]}`
const broken = `{"type":"record","name":"Order","fields":[{"name":"note","type":"string"}]}`
const uses = `{"type":"record","name":"Cart","fields":[{"name":"order","type":"Order"}]}`

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func sorted(names []string) string {
	sort.Strings(names)
	return strings.Join(names, ",")
}

func main() {
	options := []sr.ClientOpt{sr.URLs(os.Args[1])}
	if name, secret, found := strings.Cut(os.Getenv("REGISTRY_KEY"), ":"); found {
		options = append(options, sr.BasicAuth(name, secret))
	}
	client := must(sr.NewClient(options...))
	ctx := context.Background()
	deleted := sr.WithParams(ctx, sr.ShowDeleted)

	fmt.Println("types", sorted(typeNames(must(client.SupportedTypes(ctx)))))
	created := must(client.CreateSchema(ctx, "orders-value", sr.Schema{Schema: first}))
	next := must(client.CreateSchema(ctx, "orders-value", sr.Schema{Schema: second}))
	cart := must(client.CreateSchema(ctx, "carts-value", sr.Schema{Schema: uses, References: []sr.SchemaReference{{Name: "Order", Subject: "orders-value", Version: 1}}}))
	fmt.Println("created", created.Version, created.ID, next.Version, next.ID, cart.Version, cart.ID)

	for _, mode := range client.Mode(ctx, "") {
		must(0, mode.Err)
		fmt.Println("mode", mode.Mode)
	}
	for _, level := range client.Compatibility(ctx, "") {
		must(0, level.Err)
		fmt.Println("level", level.Level)
	}
	own := client.Compatibility(ctx, "orders-value")[0]
	var refused *sr.ResponseError
	fmt.Println("no level of its own", errors.As(own.Err, &refused) && errors.Is(refused.SchemaError(), sr.ErrSubjectLevelCompatibilityNotConfigured))
	mode := client.Mode(ctx, "orders-value")[0]
	fmt.Println("no mode of its own", errors.As(mode.Err, &refused) && errors.Is(refused.SchemaError(), sr.ErrSubjectLevelModeNotConfigured))
	set := client.SetCompatibility(ctx, sr.SetCompatibility{Level: sr.CompatFull}, "orders-value")[0]
	must(0, set.Err)
	fmt.Println("set level", set.Level, client.Compatibility(ctx, "orders-value")[0].Level)

	check := must(client.CheckCompatibility(sr.WithParams(ctx, sr.Verbose), "orders-value", -1, sr.Schema{Schema: broken}))
	fmt.Println("check", check.Is, len(check.Messages) > 0)
	using := must(client.SchemaReferences(deleted, "orders-value", 1))
	for _, each := range using {
		fmt.Println("used by", each.Subject, each.Version)
	}
	usages := must(client.SchemaUsagesByID(deleted, created.ID))
	fmt.Println("usages", len(usages), usages[0].Subject, usages[0].Version)

	must(0, client.DeleteSchema(ctx, "orders-value", 2, sr.SoftDelete))
	fmt.Println("subjects", sorted(must(client.Subjects(ctx))))
	fmt.Println("versions", must(client.SubjectVersions(ctx, "orders-value")), must(client.SubjectVersions(deleted, "orders-value")))
	for _, schema := range must(client.Schemas(deleted, "orders-value")) {
		fmt.Println("schema", schema.Version, schema.ID, schema.Type, schema.Schema.Schema)
	}
	fmt.Println("latest", must(client.SchemaByVersion(ctx, "orders-value", -1)).Version)
	fmt.Println("by id", must(client.SchemaByID(ctx, next.ID)).Schema == second)
	_, err := client.DeleteSubject(ctx, "orders-value", sr.SoftDelete)
	fmt.Println("in use", errors.As(err, &refused) && refused.ErrorCode == 42206)
	must(client.DeleteSubject(ctx, "carts-value", sr.SoftDelete))
	fmt.Println("deleted", sorted(must(client.Subjects(ctx))), sorted(must(client.Subjects(deleted))))
	must(client.DeleteSubject(ctx, "carts-value", sr.HardDelete))
	fmt.Println("for good", sorted(must(client.Subjects(deleted))))
	prefixed := sr.WithParams(ctx, sr.SubjectPrefix("orders"))
	fmt.Println("by prefix", sorted(must(client.Subjects(prefixed))))
}

func typeNames(types []sr.SchemaType) []string {
	names := make([]string, len(types))
	for at, each := range types {
		names[at] = each.String()
	}
	return names
}
