import { Encrypter } from 'age-encryption'
import * as assert from 'uvu/assert'
import { readKeys } from '../../../src/adapters/sops/index.ts'
import type { AnyObject } from '../../../src/api/index.ts'
import { createDecryption, createRenderer, type Decryption, type Render } from '../../../src/engines/render/index.ts'
import { isFailure } from '../../../src/std/index.ts'
import { configMap, kubectl, snapshot } from '../../support/builders/snapshots.ts'
import { refusalOf } from '../../support/refusal.ts'
import { ageKey, lacksSops, realSops, type Sops } from '../../support/sops.ts'
import { describe } from '../../support/suite.ts'

const TWO = `# about both
apiVersion: v1
kind: Secret
metadata:
    name: one # inline
    annotations:
        port: "8080"
stringData:
    # a comment
    "10": ten
    "9": nine
    float: "1.0"
    lines: |
        a
        b
    empty: ""
    __proto__: a name like any other
    constructor: and this
---
apiVersion: example.com/v1
kind: Thing
metadata:
    name: two
spec:
    all: [1, 2.5, true, false, null, text, 1e30, 1.5e-9, 2001-12-14, 0644, "on", -7]
    deep: {a: {b: [{c: d}, [e]]}}
`

const ONE_DATA = { '9': 'nine', '10': 'ten', float: '1.0', lines: 'a\nb\n', empty: '', constructor: 'and this' }
const TWO_SPEC = {
  all: [1, 2.5, true, false, null, 'text', 1e30, 1.5e-9, '2001-12-14T00:00:00Z', 420, 'on', -7],
  deep: { a: { b: [{ c: 'd' }, ['e']] } },
}

describe(
  'what SOPS has encrypted',
  (it) => {
    let render: Render
    let sops: Sops
    let age: Awaited<ReturnType<typeof ageKey>>
    let hybrid: Awaited<ReturnType<typeof ageKey>>
    let ours: Decryption

    it.before(async () => {
      render = createRenderer({ kubectl: await kubectl() })
      ;[sops, age, hybrid] = await Promise.all([realSops(), ageKey(), ageKey('hybrid')])
      ours = await withKeys(age.key, hybrid.key)
    })

    const withKeys = async (...keys: string[]) =>
      createDecryption(await readKeys(Object.fromEntries(keys.map((key, at) => [`${at}.agekey`, key])), 'Secret sops-keys'))
    const decrypted = async (files: Record<string, string | object>, decryption = ours) =>
      decryption.open(await render(snapshot(files), 'd'))
    const objectsIn = async (text: string, decryption?: Decryption) => {
      const manifests = await decrypted({ 'd/a.yaml': text }, decryption)
      for (const { problem } of manifests) assert.is(problem, undefined)
      return manifests.map(({ object }) => object)
    }
    const decode = (data: unknown) =>
      Object.entries(data ?? {}).map(([key, value]) => [key, Buffer.from(String(value), 'base64').toString()])
    const secret = (stringData: object) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'one' }, stringData })
    const refusal = (text: string, decryption = ours) => refusalOf(decrypted({ 'd/a.yaml': text }, decryption))

    it('is read as it was, by whatever rule it was encrypted', async () => {
      const rules: [string, string[]][] = [
        ['everything', []],
        ['values by a pattern', ['--encrypted-regex', '^(data|stringData|all)$']],
        ['all but a pattern', ['--unencrypted-regex', '^(apiVersion|kind|metadata)$']],
        ['by the end of a key', ['--encrypted-suffix', 'Data']],
        ['all but the end of a key', ['--unencrypted-suffix', 'etadata']],
        ['by comments', []],
        ['for a hybrid key', ['--age', hybrid.recipient]],
      ]
      for (const [why, how] of rules) {
        const recipient = how.includes('--age') ? [] : ['--age', age.recipient]
        const encrypted =
          why === 'by comments'
            ? await sops.encryptBy({ age: age.recipient, encrypted_comment_regex: 'a comment' }, 'a.yaml', TWO)
            : await sops.encrypt('a.yaml', TWO, ...recipient, ...how)
        assert.match(encrypted, /ENC\[/, why)
        const [one, two] = await objectsIn(encrypted)
        const data = new Map(decode(one?.data) as [string, string][])
        assert.is(data.get('__proto__'), 'a name like any other', why)
        data.delete('__proto__')
        assert.equal(Object.fromEntries(data), ONE_DATA, why)
        assert.is(one?.metadata.annotations?.port, '8080')
        assert.equal(two?.spec, TWO_SPEC, why)
        assert.not.match(JSON.stringify([one, two]), /ENC\[|"sops"/, why)
      }
      assert.is(({} as Record<string, unknown>).polluted, undefined)
    })

    it('is read of JSON, of Lists, and of files that were put together of several', async () => {
      const json = await sops.encrypt('a.json', secret({ a: 'b' }), '--age', age.recipient)
      assert.equal(decode((await decrypted({ 'd/a.json': json }))[0]?.object.data), [['a', 'b']])
      const list = { apiVersion: 'v1', kind: 'List', items: [secret({ a: 'first' }), secret({ a: 'second' })] }
      const items = await objectsIn(
        await sops.encrypt('a.yaml', JSON.stringify(list), '--age', age.recipient, '--encrypted-regex', 'Data'),
      )
      assert.equal(
        items.map(({ data }) => decode(data)),
        [[['a', 'first']], [['a', 'second']]],
      )
      const apart = await Promise.all(
        ['x', 'y'].map((a) => sops.encrypt('a.yaml', JSON.stringify(secret({ a })), '--age', age.recipient)),
      )
      const joined = await objectsIn(`${apart.join('---\n')}---\n${JSON.stringify(configMap('plain'))}\n`)
      assert.equal(
        joined.map(({ kind }) => kind),
        ['Secret', 'Secret', 'ConfigMap'],
      )
    })

    it('is authenticated as a whole, or in its encrypted values alone', async () => {
      const text = JSON.stringify({ ...secret({ a: 'first value', b: 'other value' }), type: 'example.com/a' })
      const rule = { age: age.recipient, encrypted_regex: 'Data', mac_only_encrypted: true }
      const only = await sops.encryptBy(rule, 'a.yaml', text)
      assert.match(only, 'mac_only_encrypted: true')
      assert.is((await objectsIn(only.replace('example.com/a', 'example.com/b')))[0]?.type, 'example.com/b')

      const all = await sops.encrypt('a.yaml', text, '--age', age.recipient, '--encrypted-regex', 'Data')
      const [a = '', b = ''] = all.match(/ENC\[[^\]]*type:str\]/g) ?? []
      /** Of four last letters of a tag each has bits that count for nothing. */
      const nextLetter = (letter: string) => String.fromCharCode(letter.charCodeAt(0) + 1)
      const changed: [string, RegExp][] = [
        [all.replace('example.com/a', 'example.com/b'), /^d\/a\.yaml: was changed after it was encrypted/],
        [all.replace(/\n {4}a: .*/, ''), /^d\/a\.yaml: was changed after it was encrypted/],
        [all.replace(a, b), /^d\/a\.yaml: the value at "stringData\.a" is damaged, or was moved there from another place/],
        [all.replace(a, a.replace(/data:./, 'data:_')), /the value at "stringData\.a" is damaged/],
        [all.replace(a, a.replace(',iv:', ' ,iv:')), /the value at "stringData\.a" is damaged/],
        [all.replace(a, a.replace('=,tag:', ',tag:')), /the value at "stringData\.a" is damaged/],
        [all.replace(a, a.replace(/[AQgw](?===,type)/, nextLetter)), /the value at "stringData\.a" is damaged/],
        [all.replace(a, 'ENC[AES256_GCM,data:,iv:,tag:,type:str]'), /the value at "stringData\.a" is damaged/],
        [all.replace(/mac: ENC\[.*/, 'mac: none'), /was changed after it was encrypted/],
        [only.replace(/\n {4}a: .*/, ''), /was changed after it was encrypted/],
      ]
      for (const [broken, words] of changed) {
        assert.not.equal(broken, all)
        const said = await refusal(broken)
        assert.match(said, words)
        assert.not.match(said, /first value|other value/)
      }
    })

    it('stays shut without its key, and says which one that is', async () => {
      const text = JSON.stringify(secret({ a: 'b' }))
      const foreign = await sops.encrypt('a.yaml', text, '--age', age.recipient)
      assert.match(
        await refusal(foreign, await withKeys(hybrid.key)),
        `d/a.yaml: is encrypted for ${age.recipient}, and Secret sops-keys has the key of none of them`,
      )
      const both = await sops.encrypt('a.yaml', text, '--age', `${age.recipient},${hybrid.recipient}`)
      assert.is((await objectsIn(both, await withKeys(hybrid.key))).length, 1)
      const groups = { key_groups: [{ age: [age.recipient] }, { age: [hybrid.recipient] }], shamir_threshold: 2 }
      assert.match(await refusal(await sops.encryptBy(groups, 'a.yaml', text)), /groups of keys \(sops\.key_groups\).*\(Shamir\)/)
      const kms = foreign.replace(
        /\n {4}age:[\s\S]*?\n {4}lastmodified/,
        '\n    kms:\n        - arn: x\n    hc_vault: [{}]\n    lastmodified',
      )
      assert.match(await refusal(kms), 'is encrypted by AWS KMS, HashiCorp Vault alone')
      const other = await sops.encrypt('a.yaml', text, '--age', hybrid.recipient)
      const swapped = foreign.replace(/BEGIN AGE[\s\S]*?END AGE/, /BEGIN AGE[\s\S]*?END AGE/.exec(other)?.[0] ?? '')
      assert.match(await refusal(swapped, await withKeys(age.key)), `the data key that it holds for ${age.recipient} is damaged`)
    })

    it('is only asked of keys that are some, and nothing of them is told', async () => {
      const [line = ''] = age.key.split('\n').slice(1)
      for (const bad of ['AGE-SECRET-KEY-1', line.slice(0, -1), `${line}A`, `# c\n\n ${line.toLowerCase()}`, age.recipient]) {
        const thrown = await readKeys({ 'k.agekey': bad }, 'Secret s').catch((caught: unknown) => caught)
        assert.ok(isFailure(thrown, 'invalid'), String(thrown))
        assert.is(thrown.reason, 'DecryptionKeysInvalid')
        assert.not.match(thrown.message, line.slice(15, 40))
      }
      assert.match(await refusalOf(readKeys({ other: line }, 'Secret s')), /^Secret s has no keys: there is no field \*\.agekey/)
    })

    it('becomes the content of ConfigMaps and Secrets that kustomize generates', async () => {
      const how = ['--age', age.recipient]
      const files = {
        'd/kustomization.yaml': {
          namePrefix: 'pre-',
          resources: ['s.yaml'],
          secretGenerator: [
            {
              name: 'made',
              envs: ['v.env'],
              files: ['c.yaml', 'c.json', 'b.bin=b.bin.enc', 'i.ini', 'e.env=v.env', 'plain.txt'],
            },
          ],
          configMapGenerator: [{ name: 'made', files: ['c.yaml'], envs: ['v.env'] }],
        },
        'd/s.yaml': await sops.encrypt('s.yaml', secret({ a: 'b' }), ...how, '--encrypted-regex', 'stringData'),
        'd/v.env': await sops.encrypt('v.env', '# about A\nA=1 2 3\nB=line\\nother\nC_unencrypted=plain\nD=\n', ...how),
        'd/c.yaml': await sops.encrypt(
          'c.yaml',
          '# top\na: x # inline\nb:\n  - 1\n  # in it\n  - true\nc: |\n  two\n  lines\n',
          ...how,
        ),
        'd/c.json': await sops.encrypt('c.json', '{"a": 1, "b": [true, 1.5, "x\\ny"], "c": null}', ...how),
        'd/b.bin.enc': await sops.encrypt('b.bin', 'of any form é\n', ...how),
        'd/i.ini': await sops.encrypt('i.ini', '; top\ntop = 1\n[part]\n; about a\na = b c\nk_unencrypted = v\n', ...how),
        'd/plain.txt': 'as it is\n',
      }
      const manifests = await render(snapshot(files), 'd')
      assert.is(
        manifests.filter(({ problem }) => problem?.includes('encrypted with SOPS, and nothing here decrypts it')).length,
        3,
      )
      const objects = (await ours.open(manifests)).map(({ object, problem }): AnyObject => ({ ...object, problem }))
      const named = (kind: string, name: string) =>
        objects.find((object) => object.kind === kind && object.metadata.name?.startsWith(name))
      const [map, one, made] = [named('ConfigMap', 'pre-made-'), named('Secret', 'pre-one'), named('Secret', 'pre-made-')]
      for (const { problem } of objects) assert.is(problem, undefined)
      assert.match(made?.metadata.name ?? '', /^pre-made-[a-z0-9]{10}$/)
      const text = 'a: "x"\nb:\n    - 1\n    - true\nc: "two\\nlines\\n"\n'
      assert.equal(map?.data, { A: '1 2 3', B: 'line\\nother', C_unencrypted: 'plain', D: '', 'c.yaml': text })
      assert.equal(decode(one?.data), [['a', 'b']])
      assert.equal(Object.fromEntries(decode(made?.data)), {
        A: '1 2 3',
        B: 'line\\nother',
        C_unencrypted: 'plain',
        D: '',
        'b.bin': 'of any form é\n',
        'c.json': '{\n\t"a": 1,\n\t"b": [\n\t\ttrue,\n\t\t1.5,\n\t\t"x\\ny"\n\t],\n\t"c": null\n}\n',
        'c.yaml': text,
        'e.env': 'A=1 2 3\nB=line\\nother\nC_unencrypted=plain\nD=\n',
        'i.ini': 'top = 1\n\n[part]\na = b c\nk_unencrypted = v\n\n',
        'plain.txt': 'as it is\n',
      })
      const again = (await ours.open(await render(snapshot({ ...files, 'd/other': 'x' }), 'd'))).map(({ object }) => object)
      assert.equal(
        again.map(({ metadata }) => metadata.name),
        objects.map(({ metadata }) => metadata.name),
      )

      const broken = { ...files, 'd/v.env': files['d/v.env'].replace('plain', 'other') }
      assert.match(await refusalOf(decrypted(broken)), /^d\/v\.env: was changed after it was encrypted/)
      const patched = { ...files, 'd/s.yaml': files['d/s.yaml'].replace('name: one', 'name: two') }
      assert.match(await refusalOf(decrypted(patched)), /^d\/s\.yaml: was changed after it was encrypted/)
    })

    it('is remembered, so that the same object is the same', async () => {
      const text = await sops.encrypt('a.yaml', JSON.stringify(secret({ a: 'b' })), '--age', age.recipient)
      const manifests = await render(snapshot({ 'd/a.yaml': text }), 'd')
      const decryption = await withKeys(age.key)
      const [[first], [second]] = [await decryption.open(manifests), await decryption.open(manifests)]
      assert.is(first?.object, second?.object)
      assert.ok(decryption.secrets().has('b'))
      const secrets = decryption.secrets()
      await decryption.open(manifests)
      assert.is(decryption.secrets(), secrets)
    })

    it('stays hidden while it is in effect, however many commits after it are refused', async () => {
      const decryption = await withKeys(age.key)
      const of = async (a: string) => ({ 'd/a.yaml': await sops.encrypt('a.yaml', secret({ a }), '--age', age.recipient) })
      await decrypted(await of('in effect'), decryption)
      for (const a of ['second', 'third', 'fourth']) {
        const broken = await sops.encrypt('b.yaml', secret({ a: 'never' }), '--age', hybrid.recipient)
        await refusalOf(decrypted({ ...(await of(a)), 'd/b.yaml': broken }, decryption))
        assert.ok(decryption.secrets().has(a) && decryption.secrets().has('in effect'), a)
      }
      await decrypted(await of('fifth'), decryption)
      assert.ok(decryption.secrets().has('in effect') && !decryption.secrets().has('third'))
    })

    it('is known to be hidden once all of a commit was decrypted, with other keys as well', async () => {
      const decryption = await withKeys(age.key)
      const text = await sops.encrypt('a.yaml', JSON.stringify(secret({ a: 'b' })), '--age', age.recipient)
      await refusal(text.replace('mac: ENC', 'mac: ENX'), decryption)
      assert.is(decryption.hasOpened(), false)
      await objectsIn(text, decryption)
      assert.is(decryption.hasOpened(), true)
      const keys = await readKeys({ 'a.agekey': hybrid.key }, 'Secret sops-keys')
      assert.is(createDecryption(keys, decryption).hasOpened(), true)
    })

    it('costs little that was made to cost much', async () => {
      const text = await sops.encrypt('a.yaml', JSON.stringify(secret({ a: 'b' })), '--age', age.recipient)
      const enc = /enc: [\s\S]*?END AGE ENCRYPTED FILE-----/.exec(text)?.[0] ?? ''
      const entry = `        - ${enc}\n          recipient: age1other\n`
      const with10000 = (count: number) => text.replace(/\n {4}age:\n/, `\n    age:\n${entry.repeat(count)}`)
      assert.ok(with10000(1).includes('age1other'))
      assert.is((await objectsIn(with10000(1000))).length, 1)
      const flow = JSON.stringify({
        ...secret({ a: 'b' }),
        sops: { mac: 'ENC[', lastmodified: '', age: Array.from({ length: 10_001 }, () => ({ recipient: 'a', enc: '' })) },
      })
      assert.match(await refusal(flow), /^d\/a\.yaml:?\d*: is encrypted for more than 10000 recipients/)

      const encrypter = new Encrypter()
      encrypter.setPassphrase('a passphrase')
      encrypter.setScryptWorkFactor(10)
      const bytes = Buffer.from(await encrypter.encrypt(new Uint8Array(32))).toString('base64')
      const armored = `-----BEGIN AGE ENCRYPTED FILE-----\n${bytes.match(/.{1,64}/g)?.join('\n')}\n-----END AGE ENCRYPTED FILE-----\n`
      const withPassphrase = JSON.stringify({
        ...secret({ a: 'ENC[AES256_GCM,data:,iv:,tag:,type:str]' }),
        sops: { mac: 'ENC[', lastmodified: '', age: [{ recipient: age.recipient, enc: armored }] },
      })
      assert.match(await refusal(withPassphrase), /the data key that it holds for age1\w+ is damaged, or is for another key/)

      // Each try of a key of ours is work; sops names nobody twice.
      const damaged = `        - ${enc.replace(/\n {12}\w{20}/, (line) => line.toLowerCase())}\n          recipient: ${age.recipient}\n`
      const after = (count: number) => text.replace(/\n {4}age:\n/, `\n    age:\n${damaged.repeat(count)}`)
      assert.is((await objectsIn(after(1))).length, 1)
      assert.match(await refusal(after(2)), /the data key that it holds for age1\w+ is damaged, or is for another key/)

      const deep = JSON.stringify(secret({ a: 'b' })).replace('"b"', `${'['.repeat(500)}${']'.repeat(500)}`)
      const large = `${text}# ${'x'.repeat(4 * 2 ** 20)}\n`
      for (const [hostile, words] of [
        [deep.replace('"kind"', '"sops":{"mac":"ENC["},"kind"'), /nested more than 200 deep/],
        [large, /d\/a\.yaml: is larger than 4194304 bytes/],
      ] as const) {
        const thrown = await decrypted({ 'd/a.yaml': hostile }).catch((caught: unknown) => caught)
        assert.ok(isFailure(thrown, 'too-large'), String(thrown))
        assert.match(thrown.message, words)
      }
    })

    it('has thousands of lines, of which each is opened once', async () => {
      const lines = Array.from({ length: 5000 }, (_, at) => `KEY_${at}=value ${at}\n`)
      const files = {
        'd/kustomization.yaml': { secretGenerator: [{ name: 'many', envs: ['v.env'] }] },
        'd/v.env': await sops.encrypt('v.env', lines.join(''), '--age', age.recipient),
      }
      const [manifest] = await decrypted(files)
      const data = decode(manifest?.object.data)
      assert.is(data.length, 5000)
      assert.equal(
        data.find(([key]) => key === 'KEY_4999'),
        ['KEY_4999', 'value 4999'],
      )
    })

    it('is refused where what SOPS says of it is in no file, or is nothing', async () => {
      const text = await sops.encrypt('s.yaml', secret({ a: 'b' }), '--age', age.recipient, '--encrypted-regex', 'stringData')
      const patch = { target: { kind: 'Secret' }, patch: '[{"op": "replace", "path": "/sops/mac", "value": "ENC[other]"}]' }
      const files = { 'd/kustomization.yaml': { resources: ['s.yaml'], patches: [patch] }, 'd/s.yaml': text }
      assert.match(await refusalOf(decrypted(files)), 'no file of the commit has what SOPS says of it')
      for (const said of [{ mac: 1 }, { mac: 'x', age: 'y' }, { mac: 'x', age: [1, null, {}] }, { mac: null, key_groups: [] }])
        assert.match(await refusal(JSON.stringify({ ...secret({ a: 'ENC[x]' }), sops: said })), /is encrypted for nobody/)
      const nothing = JSON.stringify({ ...secret({ a: 'b' }), sops: { mac: [], age: [{ recipient: age.recipient, enc: 'x' }] } })
      assert.match(await refusal(nothing), /has no sops\.mac and sops\.lastmodified that are texts|the data key|no file/)
    })
  },
  await lacksSops(),
)
