import * as assert from 'uvu/assert'
import { parse } from 'yaml'
import { Workspaces } from '../../src/api/index.ts'
import { netted } from '../../src/cli/harmless.ts'
import { marked, renderData, table, wrap } from '../../src/cli/output.ts'
import { reportTo } from '../../src/cli/report.ts'
import { coloured } from '../../src/cli/shell.ts'
import { testCluster } from '../support/control-plane.ts'
import { describe } from '../support/suite.ts'
import { workspace } from '../support/workspaces.ts'
import { berth } from './berth.ts'

/** Moves the cursor, sets the title, hides text, rings, overwrites the line, turns the direction of reading. */
const EVIL = 'a\u001B[2Jb\u001B]0;t\u0007c\u009B31md\re\u202Ef\u0000g\u007Fh'
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
const OBEYED = /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u202E]/
const quiet = (text: string) => assert.not.match(text, OBEYED)

describe('what strangers wrote', (it) => {
  const cluster = testCluster()
  it.after(() => cluster.close())

  it('is shown and not obeyed in tables, paragraphs, marks and reports', () => {
    const said: string[] = []
    const report = reportTo({ say: (text) => void said.push(text), lively: false })
    report.line(EVIL)
    report.progress({ what: EVIL, done: 1, total: 2 })
    for (const text of [table([{}], [{ title: 'T', of: () => EVIL }]), ...wrap(EVIL, 10), marked('ok', EVIL), said.join('')]) {
      quiet(text)
      assert.match(text, 'a\\u001b[2Jb')
    }
  })

  it('does not break the lines of a table', () => {
    const printed = table([{ name: 'one\ntwo' }], [{ title: 'NAME', of: ({ name }) => name }])
    assert.equal(printed.split('\n'), ['NAME', 'one two'])
  })

  it('is whole in JSON and YAML, and speaks to no terminal there either', () => {
    const data = { text: EVIL, [EVIL]: ['plain'] }
    const json = renderData('json', data)
    quiet(json)
    assert.equal(JSON.parse(json), data)
    const yaml = renderData('yaml', data)
    quiet(yaml)
    assert.equal(parse(yaml), data)
  })

  it('passes the last net only as our own colours and redrawn lines do', () => {
    const ours = `\r\u001B[K${coloured('red', 'bad')} ${coloured('bold', 'news')}\n`
    assert.is(netted(ours), ours)
    assert.is(netted('\u001B[8mhidden\u001B[0m'), '\\u001b[8mhidden\\u001b[0m')
  })

  it('comes harmless out of a verb that lists objects and out of its failure', async () => {
    const namespace = await cluster.namespace('harmless')
    const ref = { name: 'web', namespace }
    const { kube, kubeconfig } = cluster
    await kube.create(Workspaces, workspace(namespace, 'web'))
    const failure = { reason: 'CrashLoopBackOff', message: EVIL.replace('\u0000', ''), remedy: 'Read its log.' }
    await kube.patch(Workspaces, ref, { status: { actualState: 'Failed', failure } }, { subresource: 'status' })
    for (const format of ['table', 'json', 'yaml']) {
      const { stdout } = await berth(['status', '--kubeconfig', kubeconfig, '-o', format])
      quiet(stdout)
      // The table shows only the first errors of a cluster that others use as well.
      if (format !== 'table') assert.match(JSON.stringify(parse(stdout)), JSON.stringify(failure.message))
    }
    const { stderr } = await berth(['poke', 'no\u001B[2Jbody', '-n', namespace, '--kubeconfig', kubeconfig])
    quiet(stderr)
    await kube.delete(Workspaces, ref)
  })
})
