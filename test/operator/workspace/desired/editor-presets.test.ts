import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import * as assert from 'uvu/assert'
import { bringCommandOf } from '../../../../src/operator/workspace/desired/editor-presets.ts'
import { withPresetImage } from '../../../../src/operator/workspace/desired/index.ts'
import { chosenFrom } from '../../../../src/operator/workspace/place/class.ts'
import { describe } from '../../../support/suite.ts'
import { workspaceClass } from '../../../support/workspaces.ts'

const PRESETS = ['Terminal', 'CodeServer', 'OpenVSCode'] as const

describe('workspace: presets of editors', (it) => {
  const root = mkdtempSync(join(tmpdir(), 'editors-'))
  it.after(() => rmSync(root, { recursive: true }))
  const temporaryFolder = () => mkdtempSync(join(root, 'folder-'))

  /** An image that has a program in the place of an editor, which says its words, some variables and where it is. */
  const imageWith = (program: string) => {
    const image = temporaryFolder()
    const file = join(image, program)
    mkdirSync(dirname(file), { recursive: true })
    const variables = ['HOME', 'TMPDIR', 'LD_LIBRARY_PATH', 'LD_PRELOAD'].map((name) => `\${${name}-none}`)
    writeFileSync(file, `#!/bin/sh\necho "$*"\necho "${variables.join(' ')} $PWD"\n`)
    chmodSync(file, 0o755)
    return image
  }

  interface Other {
    shell?: string
    env?: Record<string, string>
    /** The container does not have the project. */
    lacksProject?: boolean
  }

  /** Brings an editor from where the image has it, and starts it in another container. */
  const started = (
    preset: (typeof PRESETS)[number],
    image: string,
    { shell = 'sh', env: own = {}, lacksProject }: Other = {},
  ) => {
    const [tools, project] = [temporaryFolder(), temporaryFolder()]
    const env = { PATH: process.env.PATH, BERTH_TOOLS_DIR: tools, BERTH_EDITOR_PORT: '60001' }
    const [, ...words] = bringCommandOf({ preset }).command ?? []
    const folder = words.findIndex((word) => word.startsWith('/'))
    // Twice, as an init container may run.
    for (const _ of [1, 2]) execFileSync(shell, words.with(folder, join(image, words[folder] ?? '')), { env, stdio: 'ignore' })
    const there = { ...env, ...own, ...(!lacksProject && { PROJECT_SOURCE: project }) }
    const said = execFileSync(shell, [join(tools, 'start')], {
      env: there,
      encoding: 'utf8',
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    return { said: said.replaceAll(tools, 'TOOLS').replaceAll(project, 'PROJECT').split('\n'), tools }
  }

  it('are frozen with their image, which is the operator’s for the terminal, and the class’s where that names one', () => {
    const frozen = (editor: object) =>
      chosenFrom(workspaceClass('standard', { editor }), { image: 'workspace:1', namespace: 'berth-system' }).settings.editor
    assert.equal(frozen({ preset: 'Terminal' }), { preset: 'Terminal', image: 'workspace:1' })
    assert.match(frozen({ preset: 'CodeServer', image: '' })?.image ?? '', /^codercom\/code-server:/)
    assert.match(frozen({ preset: 'OpenVSCode' })?.image ?? '', /^gitpod\/openvscode-server:/)
    assert.is(frozen({ preset: 'CodeServer', image: 'mine:1' })?.image, 'mine:1')
    assert.equal(frozen({ preset: '', image: '' }), { preset: '', image: '' })
    assert.is(withPresetImage(undefined, 'workspace:1'), undefined)
  })

  it('start in the project, on the port, with a home that can be written', () => {
    const codeServer = imageWith('usr/lib/code-server/bin/code-server')
    for (const shell of ['dash', 'bash']) {
      const { said, tools } = started('CodeServer', codeServer, { shell, env: { HOME: '/nowhere', TMPDIR: '/nowhere' } })
      assert.equal(said.slice(0, 2), [
        '--auth none --host 0.0.0.0 --port 60001 --disable-telemetry --disable-update-check PROJECT',
        'TOOLS/home TOOLS/tmp none none PROJECT',
      ])
      for (const folder of ['home', 'tmp']) assert.ok(statSync(join(tools, folder)).isDirectory())
    }
    const HOME = temporaryFolder()
    const openVsCode = imageWith('home/.openvscode-server/bin/openvscode-server')
    assert.equal(started('OpenVSCode', openVsCode, { env: { HOME } }).said.slice(0, 2), [
      '--without-connection-token --telemetry-level off --host 0.0.0.0 --port 60001 --default-folder PROJECT',
      `${HOME} none none none PROJECT`,
    ])
    assert.match(started('OpenVSCode', openVsCode, { lacksProject: true }).said[1] ?? '', `TOOLS/home none none none ${root}`)
  })

  it('give the terminal libraries of its own, and what it starts those of its container', () => {
    const image = imageWith('usr/lib/terminal/lib/ld-linux-x86-64.so.2')
    for (const shell of ['dash', 'bash']) {
      const [words = '', where = ''] = started('Terminal', image, { shell }).said
      assert.match(words, /^--library-path TOOLS\/editor\/lib TOOLS\/editor\/bin\/ttyd --port 60001 --writable --check-origin /)
      assert.match(words, / env -u LD_LIBRARY_PATH \S+sh$/)
      assert.is(where, 'TOOLS/home none TOOLS/editor/lib/plugins none PROJECT')
      const env = { LD_LIBRARY_PATH: '/opt/a b', LD_PRELOAD: '' }
      const [own = '', there = ''] = started('Terminal', image, { shell, env }).said
      assert.match(own, / env LD_LIBRARY_PATH=\/opt\/a b LD_PRELOAD= \S+sh$/)
      assert.match(there, / TOOLS\/editor\/lib\/plugins none PROJECT$/)
    }
  })

  it('say which folder an image lacks', () => {
    for (const preset of PRESETS) {
      const [program = '', ...words] = bringCommandOf({ preset }).command ?? []
      const folder = words.find((word) => word.startsWith('/')) ?? ''
      const tools = temporaryFolder()
      const absent = words.map((word) => (word === folder ? join(tools, 'absent') : word))
      const { status, stderr } = spawnSync(program, absent, { env: { PATH: process.env.PATH, BERTH_TOOLS_DIR: tools } })
      assert.is(status, 1)
      assert.match(stderr.toString(), 'absent, from which the editor of the WorkspaceClass comes')
    }
    assert.equal(bringCommandOf({ image: 'mine:1' }), {})
  })
})
