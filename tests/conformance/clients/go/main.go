// franz-go, called and heard as clients/python/conformance.py says.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

const deadline = 30 * time.Second

type cluster struct {
	bootstrap []string
	prefix    string
	admin     *kadm.Client
}

// failure ends an operation; main tells it.
type failure string

func check(condition bool, format string, args ...any) {
	if !condition {
		panic(failure(fmt.Sprintf(format, args...)))
	}
}

func must[T any](value T, err error) T {
	check(err == nil, "%v", err)
	return value
}

func eventually(what string, condition func() bool) {
	end := time.Now().Add(deadline)
	for !condition() {
		check(time.Now().Before(end), "not within %v: %s", deadline, what)
		time.Sleep(20 * time.Millisecond)
	}
}

func within(limit time.Duration) context.Context {
	// Every operation is far shorter than what its contexts hold.
	ctx, _ := context.WithTimeout(context.Background(), limit) //nolint:govet
	return ctx
}

func valuesOf(prefix string, count int) []string {
	var values []string
	for i := range count {
		values = append(values, fmt.Sprintf("%s-%d", prefix, i))
	}
	return values
}

func sorted[T int32 | string](values []T) []T {
	values = slices.Clone(values)
	slices.Sort(values)
	return values
}

func (c *cluster) name(topic string) string { return c.prefix + "-" + topic }

func (c *cluster) client(options ...kgo.Opt) *kgo.Client {
	base := []kgo.Opt{kgo.SeedBrokers(c.bootstrap...), kgo.ClientID("franz-go"),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.FetchMaxWait(50 * time.Millisecond), kgo.MetadataMinAge(50 * time.Millisecond)}
	return must(kgo.NewClient(append(base, options...)...))
}

func (c *cluster) partitions(name string) []kadm.PartitionDetail {
	return must(c.admin.ListTopics(within(deadline), name))[name].Partitions.Sorted()
}

func (c *cluster) create(topic string, partitions int32, configs map[string]*string) string {
	name := c.name(topic)
	must(c.admin.CreateTopic(within(deadline), partitions, 3, configs, name))
	eventually("leaders of "+name, func() bool {
		found := c.partitions(name)
		return len(found) == int(partitions) &&
			!slices.ContainsFunc(found, func(p kadm.PartitionDetail) bool { return p.Leader < 1 })
	})
	return name
}

func records(topic string, partition int32, values []string) []*kgo.Record {
	var all []*kgo.Record
	for _, value := range values {
		all = append(all, &kgo.Record{Topic: topic, Partition: partition, Value: []byte(value)})
	}
	return all
}

// Offsets as the answers tell them, in the order of the values.
func (c *cluster) produce(topic string, partition int32, values []string, options ...kgo.Opt) []int64 {
	client := c.client(options...)
	defer client.Close()
	var offsets []int64
	for _, result := range client.ProduceSync(within(deadline), records(topic, partition, values)...) {
		check(result.Err == nil, "%v", result.Err)
		offsets = append(offsets, result.Record.Offset)
	}
	return offsets
}

func take(client *kgo.Client, count int) []*kgo.Record {
	var all []*kgo.Record
	ctx := within(deadline)
	for len(all) < count {
		fetches := client.PollFetches(ctx)
		check(fetches.Err() == nil, "%d of %d records, then %v", len(all), count, fetches.Err())
		all = append(all, fetches.Records()...)
	}
	return all
}

func at(topic string, offset int64) kgo.Opt {
	return kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {0: kgo.NewOffset().At(offset)}})
}

func (c *cluster) consume(topic string, offset int64, count int) []*kgo.Record {
	client := c.client(at(topic, offset))
	defer client.Close()
	return take(client, count)
}

func valuesIn(all []*kgo.Record) []string {
	var values []string
	for _, record := range all {
		values = append(values, string(record.Value))
	}
	return values
}

func inOrder(offsets []int64) bool {
	for i, offset := range offsets {
		if offset != int64(i) {
			return false
		}
	}
	return true
}

func metadata(c *cluster) {
	found := must(c.admin.BrokerMetadata(within(deadline)))
	check(slices.Equal(sorted(found.Brokers.NodeIDs()), []int32{1, 2, 3}), "brokers %v", found.Brokers.NodeIDs())
	check(found.Cluster != "", "no cluster id")
	name := c.create("listed", 3, nil)
	var partitions []kadm.PartitionDetail
	// Another broker may answer than the one that knew the topic first.
	eventually("three partitions with an ISR of three", func() bool {
		partitions = c.partitions(name)
		return len(partitions) == 3 && !slices.ContainsFunc(partitions, func(p kadm.PartitionDetail) bool {
			return !slices.Equal(sorted(p.ISR), []int32{1, 2, 3})
		})
	})
	for i, partition := range partitions {
		check(partition.Partition == int32(i), "partitions %v", partition)
		check(slices.Equal(sorted(partition.Replicas), []int32{1, 2, 3}), "replicas %v", partition.Replicas)
		check(partition.Leader == partition.Replicas[0], "leader %v", partition)
	}
	unknown := must(c.admin.ListTopics(within(deadline), "no-such-topic"))["no-such-topic"]
	check(errors.Is(unknown.Err, kerr.UnknownTopicOrPartition), "%v", unknown.Err)
}

func topics(c *cluster) {
	name := c.create("short-lived", 2, nil)
	_, err := c.admin.CreateTopic(within(deadline), 1, 3, nil, name)
	check(errors.Is(err, kerr.TopicAlreadyExists), "%v", err)
	_, err = c.admin.CreateTopic(within(deadline), 1, 4, nil, "x")
	check(errors.Is(err, kerr.InvalidReplicationFactor), "%v", err)
	c.produce(name, 0, valuesOf("x", 10))
	must(c.admin.DeleteTopic(within(deadline), name))
	eventually("deletion", func() bool { return !must(c.admin.ListTopics(within(deadline))).Has(name) })
	_, err = c.admin.DeleteTopic(within(deadline), name)
	check(errors.Is(err, kerr.UnknownTopicOrPartition), "%v", err)
}

func produceWith(label string, acks kgo.Acks) func(*cluster) {
	return func(c *cluster) {
		name := c.create("acks-"+label, 1, nil)
		values := valuesOf(label, 200)
		// As parts_of of conformance.py.
		rest := values
		if label == "0" {
			c.produce(name, 0, values[:1])
			rest = values[1:]
		}
		offsets := c.produce(name, 0, rest, kgo.RequiredAcks(acks), kgo.DisableIdempotentWrite())
		check(label == "0" || inOrder(offsets), "offsets %v", offsets)
		read := c.consume(name, 0, 200)
		check(slices.Equal(valuesIn(read), values), "other values")
		check(read[199].Offset == 199, "other offsets")
	}
}

func idempotent(c *cluster) {
	two := "2"
	name := c.create("once", 1, map[string]*string{"min.insync.replicas": &two})
	values := valuesOf("once", 1000)
	check(inOrder(c.produce(name, 0, values)), "offsets are not in order")
	check(slices.Equal(valuesIn(c.consume(name, 0, 1000)), values), "other values")
}

func codecs(c *cluster) {
	for label, codec := range map[string]kgo.CompressionCodec{"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(),
		"snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression()} {
		name := c.create("codec-"+label, 1, nil)
		values := valuesOf(strings.Repeat("the same words again and again ", 20), 500)
		c.produce(name, 0, values, kgo.ProducerBatchCompression(codec), kgo.ProducerLinger(20*time.Millisecond))
		check(slices.Equal(valuesIn(c.consume(name, 0, 500)), values), "%s: other values", label)
	}
}

func wholeRecords(c *cluster) {
	name := c.create("whole-records", 1, nil)
	client := c.client()
	defer client.Close()
	first := &kgo.Record{Topic: name, Key: []byte("key"), Value: []byte("value"), Timestamp: time.UnixMilli(1234567),
		Headers: []kgo.RecordHeader{{Key: "a", Value: []byte("1")}, {Key: "b"}}}
	second := &kgo.Record{Topic: name, Key: []byte("tombstone")}
	check(client.ProduceSync(within(deadline), first, second).FirstErr() == nil, "not produced")
	read := c.consume(name, 0, 2)
	check(string(read[0].Key) == "key" && string(read[0].Value) == "value", "%v", read[0])
	check(len(read[0].Headers) == 2 && string(read[0].Headers[0].Value) == "1" && read[0].Headers[1].Value == nil,
		"%v", read[0].Headers)
	check(read[0].Timestamp.UnixMilli() == 1234567, "%v", read[0].Timestamp)
	check(string(read[1].Key) == "tombstone" && read[1].Value == nil, "%v", read[1])
}

func assign(c *cluster) {
	name := c.create("marks", 1, nil)
	c.produce(name, 0, valuesOf("w", 50))
	middle := c.consume(name, 30, 20)
	check(slices.Equal(valuesIn(middle), valuesOf("w", 50)[30:]), "records from offset 30")
	tail := c.client(at(name, 50))
	defer tail.Close()
	check(tail.PollFetches(within(300*time.Millisecond)).NumRecords() == 0, "something at the end of the log")
	c.produce(name, 0, []string{"late"})
	late := take(tail, 1)
	check(string(late[0].Value) == "late" && late[0].Offset == 50, "%v", late[0])
	lost := c.client(at(name, 1000), kgo.ConsumeResetOffset(kgo.NoResetOffset()))
	defer lost.Close()
	err := lost.PollFetches(within(deadline)).Err()
	check(errors.Is(err, kerr.OffsetOutOfRange), "beyond the end: %v", err)
}

func listOffsets(c *cluster) {
	name := c.create("offsets", 1, nil)
	c.produce(name, 0, valuesOf("o", 50))
	offset := func(listed kadm.ListedOffsets, err error) int64 {
		found, _ := must(listed, err).Lookup(name, 0)
		check(found.Err == nil, "%v", found.Err)
		return found.Offset
	}
	check(offset(c.admin.ListStartOffsets(within(deadline), name)) == 0, "the beginning")
	check(offset(c.admin.ListEndOffsets(within(deadline), name)) == 50, "the end")
	check(offset(c.admin.ListOffsetsAfterMilli(within(deadline), 0, name)) == 0, "the offset of time 0")
	check(offset(c.admin.ListMaxTimestampOffsets(within(deadline), name)) >= 0, "the offset of the newest record")
	// kadm answers with the end of the log where there is none so late.
	check(offset(c.admin.ListOffsetsAfterMilli(within(deadline), 1<<50, name)) == 50, "the offset of a later time")
}

func configs(c *cluster) {
	two := "2"
	name := c.create("configured", 1, map[string]*string{"min.insync.replicas": &two})
	described := func() string {
		found := must(must(c.admin.DescribeTopicConfigs(within(deadline), name)).On(name, nil))
		if errors.Is(found.Err, kerr.UnknownTopicOrPartition) {
			return "an unknown topic"
		}
		check(found.Err == nil, "%v", found.Err)
		for _, config := range found.Configs {
			if config.Key == "min.insync.replicas" {
				return config.MaybeValue()
			}
		}
		return "nothing"
	}
	alter := func(value string) error {
		change := []kadm.AlterConfig{{Op: kadm.SetConfig, Name: "min.insync.replicas", Value: &value}}
		return must(must(c.admin.AlterTopicConfigs(within(deadline), change, name)).On(name, nil)).Err
	}
	// Another broker may answer than the one that knew the topic first.
	eventually("min.insync.replicas", func() bool { return described() == "2" })
	check(alter("1") == nil, "not altered")
	eventually("the new min.insync.replicas", func() bool { return described() == "1" })
	err := alter("none")
	check(errors.Is(err, kerr.InvalidConfig), "%v", err)
	check(described() == "1", "%s", described())
}

func (c *cluster) member(group, topic string, options ...kgo.Opt) *kgo.Client {
	return c.client(append([]kgo.Opt{kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic), kgo.DisableAutoCommit(),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.HeartbeatInterval(200 * time.Millisecond),
		kgo.SessionTimeout(6 * time.Second)}, options...)...)
}

func group(c *cluster) {
	name := c.create("grouped", 2, nil)
	for partition := range int32(2) {
		c.produce(name, partition, valuesOf(fmt.Sprintf("g%d", partition), 50))
	}
	first := c.member(c.name("group"), name)
	read := take(first, 100)
	for partition := range int32(2) {
		of := slices.DeleteFunc(slices.Clone(read), func(r *kgo.Record) bool { return r.Partition != partition })
		check(slices.Equal(valuesIn(of), valuesOf(fmt.Sprintf("g%d", partition), 50)), "other values")
	}
	check(first.CommitUncommittedOffsets(within(deadline)) == nil, "not committed")
	committed := first.CommittedOffsets()[name]
	check(committed[0].Offset == 50 && committed[1].Offset == 50, "%v", committed)
	first.Close()
	c.produce(name, 0, []string{"after"})
	second := c.member(c.name("group"), name)
	defer second.Close()
	again := take(second, 1)
	check(string(again[0].Value) == "after" && again[0].Offset == 50, "%v", again[0])
}

func groupAdmin(c *cluster) {
	id, topic := c.name("group"), c.name("grouped")
	listed := must(c.admin.ListGroups(within(deadline))).Groups()
	check(slices.Contains(listed, id), "%v", listed)
	eventually("an empty group", func() bool {
		described := must(must(c.admin.DescribeGroups(within(deadline), id)).On(id, nil))
		return described.State == "Empty" && len(described.Members) == 0
	})
	offsets := must(c.admin.FetchOffsets(within(deadline), id))
	check(offsets[topic][0].At == 50 && offsets[topic][1].At == 50, "%v", offsets)
	must(c.admin.DeleteGroup(within(deadline), id))
	listed = must(c.admin.ListGroups(within(deadline))).Groups()
	check(!slices.Contains(listed, id), "the deleted group is listed")
}

// held is what a member of a group has been given and not lost again.
type held struct {
	mutex      sync.Mutex
	partitions []int32
}

func (h *held) now() []int32 {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return sorted(h.partitions)
}

func (h *held) change(topic string, gain bool) func(context.Context, *kgo.Client, map[string][]int32) {
	return func(_ context.Context, _ *kgo.Client, changed map[string][]int32) {
		h.mutex.Lock()
		defer h.mutex.Unlock()
		if gain {
			h.partitions = append(h.partitions, changed[topic]...)
			return
		}
		h.partitions = slices.DeleteFunc(h.partitions, func(p int32) bool { return slices.Contains(changed[topic], p) })
	}
}

func rebalance(c *cluster) {
	name := c.create("shared", 2, nil)
	join := func() (*kgo.Client, *held) {
		h := &held{}
		return c.member(c.name("two-members"), name, kgo.OnPartitionsAssigned(h.change(name, true)),
			kgo.OnPartitionsRevoked(h.change(name, false)), kgo.OnPartitionsLost(h.change(name, false))), h
	}
	both := []int32{0, 1}
	one, oneHolds := join()
	defer one.Close()
	eventually("both partitions for the first member", func() bool { return slices.Equal(oneHolds.now(), both) })
	two, twoHolds := join()
	eventually("one partition for each member", func() bool {
		return len(oneHolds.now()) == 1 && slices.Equal(sorted(append(oneHolds.now(), twoHolds.now()...)), both)
	})
	two.Close()
	eventually("both partitions for the one that stays", func() bool { return slices.Equal(oneHolds.now(), both) })
}

// As Survival of conformance.py.
func survive(c *cluster) {
	two := "2"
	name := c.create("survivor", 1, map[string]*string{"min.insync.replicas": &two})
	client := c.client(kgo.ProduceRequestTimeout(2*time.Second), kgo.MetadataMaxAge(time.Second))
	defer client.Close()
	acknowledged := valuesOf("s", 320)
	for i, value := range acknowledged {
		result := client.ProduceSync(within(2*deadline), records(name, 0, []string{value})...)
		check(result.FirstErr() == nil, "%d acknowledged, then %v", i, result.FirstErr())
		if i == 20 {
			fmt.Printf("kill\t%s\n", name)
		}
	}
	// Idempotent and one after another: exactly these, in this order.
	check(slices.Equal(valuesIn(c.consume(name, 0, len(acknowledged))), acknowledged), "other values")
}

var operations = []struct {
	name string
	run  func(*cluster)
}{
	{"metadata", metadata}, {"topics", topics}, {"produce acks=0", produceWith("0", kgo.NoAck())},
	{"produce acks=1", produceWith("1", kgo.LeaderAck())}, {"produce acks=all", produceWith("all", kgo.AllISRAcks())},
	{"produce idempotent", idempotent}, {"codecs", codecs}, {"whole records", wholeRecords},
	{"assign", assign}, {"list offsets", listOffsets}, {"configs", configs}, {"group", group},
	{"group admin", groupAdmin}, {"rebalance", rebalance}, {"survive a kill", survive},
}

const long = "survive a kill"

// run tells how one operation went.
func run(c *cluster, name string, operation func(*cluster)) (ok bool) {
	began := time.Now()
	result := "ok"
	defer func() {
		if problem := recover(); problem != nil {
			result = "failed: " + strings.NewReplacer("\n", " ", "\t", " ").Replace(fmt.Sprint(problem))
		}
		fmt.Printf("op\t%s\t%d\t%s\n", name, time.Since(began).Milliseconds(), result)
		ok = result == "ok"
	}()
	operation(c)
	return
}

func main() {
	if len(os.Args) != 3 && len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: franz-go BOOTSTRAP PREFIX [OPERATION,...]")
		os.Exit(2)
	}
	c := &cluster{bootstrap: strings.Split(os.Args[1], ","), prefix: os.Args[2]}
	c.admin = kadm.NewClient(c.client())
	code := 0
	for _, operation := range operations {
		wanted := operation.name != long
		if len(os.Args) == 4 {
			wanted = slices.Contains(strings.Split(os.Args[3], ","), operation.name)
		}
		if wanted && !run(c, operation.name, operation.run) {
			code = 1
		}
	}
	c.admin.Close()
	os.Exit(code)
}
