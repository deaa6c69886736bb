import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { fromMachine, fromPods, listenAt, nodeFor, portsIn } from '../../src/cli/local/network.ts'
import { describe } from '../support/suite.ts'

describe('the network of a local installation', (it) => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'berth-network-')))
  it.after(() => rmSync(dir, { recursive: true }))

  it('keeps its ports, and takes another in the place of one that somebody else has', async () => {
    const first = await portsIn(dir, true)
    const ports = Object.values(first)
    assert.is(new Set(ports).size, ports.length)
    assert.equal(await portsIn(dir, true), first)
    assert.equal(await portsIn(dir, false), { git: first.git })
    const other = createServer().listen(first.kas, '127.0.0.1')
    try {
      const { kas, ...others } = await portsIn(dir, true)
      assert.is.not(kas, first.kas)
      assert.equal({ ...others, kas: first.kas }, first)
    } finally {
      other.close()
    }
  })

  it('is open to pods in a node, and to this machine alone elsewhere', () => {
    assert.equal(listenAt({ enter: [], ports: { git: 2000 } }, 'git'), { host: '127.0.0.1', port: 2000 })
    assert.equal(listenAt({ enter: [], ports: {} }, 'kas'), { host: '127.0.0.1', port: 0 })
    assert.equal(listenAt({ enter: ['nsenter'], ports: { git: 2000 } }, 'git'), { host: '0.0.0.0', port: 2000 })
    assert.is(fromMachine('http://0.0.0.0:2000'), 'http://127.0.0.1:2000')
    assert.is(fromPods('http://0.0.0.0:2000'), 'http://10.244.0.1:2000')
    assert.is(fromPods('127.0.0.1:2000'), '127.0.0.1:2000')
  })

  it('makes no node that nobody asked to be made, and says so in a line', async () => {
    const lines: string[] = []
    const report = { line: (text: string) => lines.push(text), progress: () => undefined }
    const shell = { env: { PATH: process.env.PATH, XDG_CACHE_HOME: dir }, signal: new AbortController().signal }
    assert.is(await nodeFor('if-made', shell, report), undefined)
    assert.is(lines.length, 1)
    assert.match(lines[0] ?? '', /^Pods are simulated: .+\.$/)
  })
})
