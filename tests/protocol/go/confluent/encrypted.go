// What clients that never met encrypt for each other, told case by case, with Confluent's client for Go. It is told as
// ../../node/encrypted.cjs is, which says what stands in FOLDER/cases.json and what is printed.
//
//	encrypted URL FOLDER
package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/schemaregistry"
	"github.com/confluentinc/confluent-kafka-go/v2/schemaregistry/rules/encryption"
	_ "github.com/confluentinc/confluent-kafka-go/v2/schemaregistry/rules/encryption/localkms"
	"github.com/confluentinc/confluent-kafka-go/v2/schemaregistry/serde"
	"github.com/confluentinc/confluent-kafka-go/v2/schemaregistry/serde/avrov2"
)

type order struct {
	Number   int64  `avro:"number" json:"number"`
	Customer string `avro:"customer" json:"customer"`
}

type letter struct {
	Topic   string  `json:"topic"`
	Secret  *string `json:"secret"`
	AheadMs int64   `json:"ahead_ms"`
	Order   order   `json:"order"`
	Message *string `json:"message"`
}

type told struct {
	Order   order   `json:"order"`
	Message string  `json:"message"`
	Failed  *string `json:"failed"`
}

// ahead is a clock that is ahead of the registry's by so many milliseconds.
type ahead int64

func (by ahead) NowUnixMilli() int64 { return time.Now().UnixMilli() + int64(by) }

func exchanged(url string, each letter) (told, error) {
	clock := ahead(each.AheadMs) // with executors of its own, so that nothing is remembered of other cases
	encryption.RegisterExecutorWithClock(clock)
	encryption.RegisterFieldExecutorWithClock(clock)
	rules := map[string]string{}
	if each.Secret != nil {
		rules["secret"] = *each.Secret
	}
	client, err := schemaregistry.NewClient(schemaregistry.NewConfig(url))
	if err != nil {
		return told{}, err
	}
	if each.Message == nil {
		return sent(client, rules, each)
	}
	conf := avrov2.NewDeserializerConfig()
	conf.RuleConfig = rules
	reader, err := avrov2.NewDeserializer(client, serde.ValueSerde, conf)
	if err != nil {
		return told{}, err
	}
	message, err := base64.StdEncoding.DecodeString(*each.Message)
	if err != nil {
		return told{}, err
	}
	var found order
	err = reader.DeserializeInto(each.Topic, message, &found)
	return told{Order: found, Message: *each.Message}, err
}

func sent(client schemaregistry.Client, rules map[string]string, each letter) (told, error) {
	conf := avrov2.NewSerializerConfig()
	conf.AutoRegisterSchemas, conf.UseLatestVersion, conf.RuleConfig = false, true, rules
	writer, err := avrov2.NewSerializer(client, serde.ValueSerde, conf)
	if err != nil {
		return told{}, err
	}
	clear := each.Order
	message, err := writer.Serialize(each.Topic, &clear)
	return told{Order: each.Order, Message: base64.StdEncoding.EncodeToString(message)}, err
}

func main() {
	url, folder := os.Args[1], os.Args[2]
	text, err := os.ReadFile(filepath.Join(folder, "cases.json"))
	var cases []letter
	if err == nil {
		err = json.Unmarshal(text, &cases)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, each := range cases {
		line, err := exchanged(url, each)
		if err != nil {
			failed := err.Error()
			line.Failed = &failed
		}
		printed, _ := json.Marshal(line)
		fmt.Println(string(printed))
	}
}
