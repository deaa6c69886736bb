import { setImmediate as turn } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { type Clock, createYamlReader, createYamlTreeReader, parseYaml, parseYamlTree } from '../../src/std/index.ts'
import { describe } from '../support/suite.ts'

const long = (count: number) => Array.from({ length: count }, (_, at) => `k${at}: {value: ${at}}\n`).join('')

describe('reading YAML aside', (it) => {
  it('gives what reading it here gives, be it right or wrong', async () => {
    const read = createYamlReader()
    for (const text of ['a: 1', long(2000), `---\n${long(500)}---\nb: 1\n`, 'a: &a [1]\nb: *a\n', `${long(1000)}a: [\n`])
      assert.equal(await read(text), parseYaml(text))
  })

  it('gives the tree that reading it here gives, with its places', async () => {
    const read = createYamlTreeReader()
    for (const text of ['a: 1', long(500), 'a: &a [1]\nb: *a\n', `${long(500)}a: [\n`]) {
      const options = { file: 'devfile.yaml', schema: 'core', limits: { aliases: 100 } } as const
      assert.equal(await read(text, options), parseYamlTree(text, options))
    }
  })

  it('lets everything else go on meanwhile', async () => {
    let isDone = false
    let turns = 0
    const reading = createYamlReader()(long(20_000)).finally(() => {
      isDone = true
    })
    while (!isDone) {
      await turn()
      turns++
    }
    assert.is((await reading).documents?.length, 1)
    assert.ok(turns > 20, `${turns} turns`)
  })

  it('gives up what takes too long, and reads the next text', async () => {
    // A small part of what the fastest machine takes.
    const read = createYamlReader({ time: 50 })
    const { problem } = await read(long(20_000))
    assert.is(problem?.message, 'The document takes more than 0.05 s to read')
    assert.is(problem?.isTooLarge, true)
    assert.is((await read(long(200))).documents?.length, 1)
  })

  it('counts what it works itself, and not how long others keep it waiting', async () => {
    const waited: (() => void)[] = []
    const clock: Clock = {
      now: () => 0,
      after(_, run) {
        waited.push(run)
        return () => undefined
      },
    }
    const reading = createYamlReader({ clock })(long(2000))
    waited[0]?.()
    assert.is((await reading).documents?.length, 1)
  })

  it('gives up what takes too much memory, and reads the next text', async () => {
    const read = createYamlReader({ memory: 16 })
    const { problem } = await read(long(10_000))
    assert.is(problem?.message, 'The document takes more than 16 MiB of memory to read')
    assert.is((await read(long(200))).documents?.length, 1)
  })
})
