import { equal, is } from 'uvu/assert'
import { createOpenFolders, type SshChannel, type SshProgram } from '../../../src/adapters/ssh/index.ts'
import type { Place } from '../../../src/proxy/ssh/inside.ts'
import { runProgram } from '../../../src/proxy/ssh/programs.ts'
import { describe } from '../../support/suite.ts'
import { eventually } from '../../support/verbs.ts'

type Resize = Parameters<Parameters<SshProgram['onResize']>[0]>[0]

describe('a program over SSH at a server that takes nothing', (it) => {
  it('has one word at a time on its way, however often a client says another size or signal', async () => {
    const sent: { text: string; taken: () => void }[] = []
    const end = Promise.withResolvers<void>()
    const socket = {
      messages: (async function* () {
        await end.promise
        yield Buffer.from('\u0003{ "status": "Success" }')
      })(),
      send: (message: Uint8Array) =>
        new Promise<void>((taken) => void sent.push({ text: Buffer.from(message).toString().slice(1), taken })),
      close: () => undefined,
    }
    const place = {
      ...{ kube: { socket: async () => socket } as unknown as Place['kube'], namespace: 'here' }, // as: nothing else of it is asked for
      ...{ pod: 'here', container: 'here' },
    }
    const heard: { resize?: (size: Resize) => void; signal?: (name: string) => void } = {}
    const program: SshProgram = {
      ...{ kind: 'shell', text: '', terminal: { columns: 80, rows: 24 }, variables: new Map() },
      onResize(listener) {
        heard.resize = listener
      },
      onSignal(listener) {
        heard.signal = listener
      },
    }
    const channel: SshChannel = {
      // It sends nothing, and does not end either.
      input: (async function* () {
        await end.promise
        yield* []
      })(),
      write: async () => undefined,
      end: () => undefined,
      closed: new AbortController().signal,
      received: () => 0,
    }
    const run = runProgram(place, program, channel, createOpenFolders())
    await eventually(() => sent.length === 1)
    sent[0]?.taken()
    await eventually(() => heard.signal !== undefined)
    for (let columns = 1; columns <= 1000; columns++) {
      heard.resize?.({ columns, rows: 24 })
      heard.signal?.('INT')
    }
    is(sent.length, 3)
    for (const { taken } of sent) taken()
    await eventually(() => sent.length === 5)
    const sizes = sent.flatMap(({ text }) => (text.startsWith('{') ? [JSON.parse(text).Width] : []))
    equal(sizes, [80, 1, 1000])
    for (const { taken } of sent) taken()
    end.resolve()
    await eventually(() => sent.length === 6)
    sent[5]?.taken()
    await run
  })
})
