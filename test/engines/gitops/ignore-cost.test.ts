import { equal, is, ok } from 'uvu/assert'
import type { AnyObject } from '../../../src/api/index.ts'
import {
  type IgnoreRules,
  ignoreRules,
  ourFields,
  withLiveIgnored,
  withoutIgnored,
} from '../../../src/engines/gitops/fields/ignore.ts'
import { ownershipAt, ownershipOf } from '../../../src/engines/gitops/fields/managed-fields.ts'
import { managerOf, OWNER_LABEL } from '../../../src/engines/gitops/objects/place.ts'
import { managersOf } from '../../../src/engines/gitops/watch/watched-states.ts'
import { isRecord } from '../../../src/std/index.ts'
import { describe } from '../../support/suite.ts'

/** As many as the schema lets a deployment have: 32 rules of 32 paths. */
const MOST = 1024

const ruleOf = (...paths: string[]): IgnoreRules => ignoreRules([{ paths }])

const upTo = <T>(count: number, one: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => one(index))

const fieldsOf = (count: number) => Object.fromEntries(upTo(count, (index) => [`k${index}`, 'x']))

interface Entry {
  manager: string
  fieldsV1: object
}

const widget = (spec: unknown, managedFields: Entry[] = []): AnyObject => {
  const metadata = { name: 'a', labels: { [OWNER_LABEL]: 'me' }, managedFields }
  return { apiVersion: 'example.com/v1', kind: 'Widget', metadata, spec }
}

const countIn = ({ spec }: AnyObject): number => (isRecord(spec) ? Object.keys(spec).length : 0)

/** Every entry of the list is set by the manager. */
const environment = (count: number) => {
  const list = upTo(count, (index) => ({ name: `E${index}`, value: 'x' }))
  const keys = Object.fromEntries(list.map(({ name }) => [`k:{"name":"${name}"}`, { '.': {}, 'f:name': {}, 'f:value': {} }]))
  return { list, setBy: (manager: string): Entry => ({ manager, fieldsV1: { 'f:spec': keys } }) }
}

// With a step for each pair of them, the first three would take minutes, and nothing else would be done in that time.
describe('paths that many fields match', (it) => {
  it('are taken out in one go', () => {
    const object = widget(fieldsOf(200_000))
    const paths = upTo(MOST, (index) => `/spec/k${index * 7}`)
    is(countIn(withoutIgnored(object, ruleOf(...paths))), 200_000 - MOST)
  })

  it('are one path when they are the same', () => {
    const { list, setBy } = environment(3000)
    const rules = ignoreRules(upTo(32, () => ({ paths: upTo(32, () => '/spec') })))
    is(withLiveIgnored(widget(list), widget(list, [setBy('other')]), rules, 'us').spec, undefined)
  })

  it('cost one look at each element of a list', () => {
    const { list, setBy } = environment(40_000)
    is(withLiveIgnored(widget(list), widget(list, [setBy('other')]), ruleOf('/spec'), 'us').spec, undefined)
  })

  it('cost one look at each field that a manager set, however many there are of both', () => {
    const spec = fieldsOf(20_000)
    const entries = upTo(5000, (index) => ({ manager: `m${index}`, fieldsV1: { 'f:spec': { [`f:k${index * 4}`]: {} } } }))
    const live = widget({ ...spec, k1: 'live' }, entries)
    equal(withLiveIgnored(widget(spec), live, ruleOf('/spec'), 'us').spec, live.spec)
    is(countIn(withLiveIgnored(widget(spec), live, ruleOf('/spec/k4', '/spec/k8'), 'us')), 19_998)
  })

  it('are looked up in a long list for every difference', () => {
    const { list, setBy } = environment(40_000)
    const live = widget(list, [setBy(managerOf('me')), setBy('other')])
    const pointers = upTo(64, (index) => `/spec/${39_999 - index}/value`)
    equal(pointers.filter(ourFields(widget(list), live)), pointers)
    equal(managersOf(live, pointers, managerOf('me')), ['other'])
  })

  it('are nobody’s where a server has more choices of keys than its schema', () => {
    const { list, setBy } = environment(10_000)
    const keys = Object.fromEntries(list.map((_, index) => [`k:{"x${index}":1,"name":"E1"}`, {}]))
    const live = widget(list, [{ manager: 'hostile', fieldsV1: { 'f:spec': keys } }, setBy('other')])
    equal(withLiveIgnored(widget(list), live, ruleOf('/spec'), 'us').spec, list)
  })

  it('send nothing back twice', () => {
    const live = widget([{ name: 'a', text: 'x'.repeat(1_000_000) }])
    const ours = widget(upTo(MOST, () => ({ name: 'a', text: '' })))
    const paths = upTo(MOST, (index) => `/spec/${index}`)
    const { length } = JSON.stringify(withLiveIgnored(ours, live, ruleOf(...paths), 'us'))
    ok(length < 1_100_000, `${length} characters`)
  })
})

const TAKEN_OUT: [why: string, spec: unknown, paths: string[], left: unknown][] = [
  ['a path twice takes one element', ['a', 'b', 'c'], ['/spec/0', '/spec/0'], ['b', 'c']],
  ['elements are meant where they were before', ['a', 'b', 'c'], ['/spec/0', '/spec/1'], ['c']],
  ['one place in two writings', [{ a: 1, b: 1 }], ['/spec/0/a', '/spec/00/b'], [{}]],
  ['no such element', ['a'], ['/spec/1', '/spec/-', '/spec/-1', '/spec/x'], ['a']],
  ['the outer one first', { a: { b: 1, c: 1 } }, ['/spec/a', '/spec/a/b'], {}],
  ['the inner one first', { a: { b: 1, c: 1 } }, ['/spec/a/b', '/spec/a'], {}],
  ['through a text', { a: 'text' }, ['/spec/a/b', '/spec/a/0'], { a: 'text' }],
  ['what every object inherits', {}, ['/spec/constructor', '/spec/toString/name'], {}],
]

describe('several paths in one object', (it) => {
  it('are taken out together', () => {
    for (const [why, spec, paths, left] of TAKEN_OUT) equal(withoutIgnored(widget(spec), ruleOf(...paths)).spec, left, why)
  })

  it('leave the object itself as it was', () => {
    const object = widget({ a: { b: 1 }, list: [1, 2] })
    const before = structuredClone(object)
    withoutIgnored(object, ruleOf('/spec/a/b', '/spec/list/0'))
    withLiveIgnored(object, widget({ a: { b: 2 } }), ruleOf('/spec/a/b', '/spec/list/0'), 'us')
    equal(object, before)
  })

  it('are sent back as what is around them is, in any order', () => {
    const live = widget({ a: { b: 'live', c: 'live' } }, [{ manager: 'other', fieldsV1: { 'f:spec': { 'f:a': { 'f:b': {} } } } }])
    for (const paths of [
      ['/spec/a', '/spec/a/b'],
      ['/spec/a/b', '/spec/a'],
    ])
      equal(withLiveIgnored(widget({ a: { b: 1, c: 1 } }), live, ruleOf(...paths), 'us').spec, live.spec)
  })

  it('are somebody else’s when several others set them together', () => {
    const entry = (name: string) => ({ manager: name, fieldsV1: { 'f:spec': { 'f:a': { [`f:${name}`]: {} } } } })
    const spec = { a: { b: 1, c: 1 }, d: 1 }
    equal(withLiveIgnored(widget(spec), widget(spec, [entry('b'), entry('c')]), ruleOf('/spec/a'), 'us').spec, { d: 1 })
  })

  it('tell elements of one name apart by their order', () => {
    const mounts = (...paths: string[]) => paths.map((path) => ({ name: 'data', path }))
    const live = widget([{ name: 'new', path: '/new' }, ...mounts('/1', '/2')])
    equal(withLiveIgnored(widget(mounts('/a', '/b')), live, ruleOf('/spec/1/path'), 'us').spec, mounts('/a', '/2'))
  })
})

const CLAIMS: [why: string, fields: object, pointer: string, claim: string][] = [
  ['by key', { 'f:list': { 'k:{"port":80,"protocol":"TCP"}': { 'f:x': {} } } }, '/list/1/x', 'whole'],
  ['by key, written in another way', { 'f:list': { 'k:{"protocol": "TCP", "port": 80}': {} } }, '/list/1', 'whole'],
  ['by another choice of key fields', { 'f:list': { 'k:{"no":1}': {}, 'k:{"port":80}': {} } }, '/list/1', 'whole'],
  ['by the key of another element', { 'f:list': { 'k:{"port":81}': {} } }, '/list/1', 'none'],
  ['by a key that is none', { 'f:list': { 'k:{': {}, 'k:[]': {}, 'k:{"x":{}}': {} } }, '/list/1', 'none'],
  ['by place', { 'f:list': { 'i:1': {} } }, '/list/1', 'whole'],
  ['by value', { 'f:set': { 'v:"a"': {} } }, '/set/0', 'whole'],
  ['by another value', { 'f:set': { 'v:"b"': {} } }, '/set/0', 'none'],
  ['as one piece', { 'f:list': {} }, '/list/1/x', 'above'],
  ['what is in it', { 'f:list': { 'i:1': { 'f:x': {} } } }, '/list', 'whole'],
  ['something beside it', { 'f:list': { '.': {} } }, '/list/1', 'none'],
]

describe('a claim', (it) => {
  it('reaches as far as the manager said', () => {
    const object = { list: [{ port: 79 }, { port: 80, protocol: 'TCP', x: {} }], set: ['a'] }
    for (const [why, fields, pointer, claim] of CLAIMS)
      is(ownershipAt(ownershipOf([{ ...fields }]), object, pointer.split('/').slice(1)), claim, why)
  })
})
