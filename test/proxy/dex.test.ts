import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { equal, is, match, ok } from 'uvu/assert'
import { buildGo, lacksGo, startServing } from '../support/go-program.ts'
import { describe } from '../support/suite.ts'
import type { Answer, Browser } from './browser.ts'
import { hostOf, SIGN_IN } from './running-proxy.ts'
import { type Stage, setStage } from './stage.ts'

const SOURCE = join(import.meta.dirname, '../support/dex')
const ADA = 'ada@example.com'
/** Of the connector for Dex's own tests, which asks nothing. */
const OF_GROUP = { user: 'kilgore@kilgore.trout', group: 'authors' }
const SECRET = 'of-this-client'

describe(
  'people sign in at a real Dex',
  (it) => {
    let stage: Stage
    let dex: Awaited<ReturnType<typeof startServing>>
    const secretFile = join(tmpdir(), 'client-secret')
    it.before(async () => {
      const program = await buildGo(SOURCE)
      dex = await startServing(program, ['berth', SECRET, `https://${SIGN_IN}/callback`, ADA], 1)
      await writeFile(secretFile, SECRET)
      stage = await setStage((_request, response) => response.end('the app'), {
        oidcIssuer: dex.lines[0] ?? '',
        oidcClientId: 'berth',
        oidcClientSecret: secretFile,
        oidcScopes: 'profile,email,groups',
      })
      await stage.workspace('web', { spec: { owner: ADA } })
      await stage.workspace('shared', {
        spec: { owner: ADA, shares: [{ name: 'authors', group: OF_GROUP.group, ports: ['app'] }] },
      })
    })
    it.after(async () => {
      await stage?.close()
      await dex?.stop()
      await rm(secretFile, { force: true })
    })

    /** Goes to a workspace, and at the page of Dex takes this way in. */
    const arrive = async (person: Browser, name: string, way: string): Promise<Answer> => {
      const choice = await person.open(`https://${hostOf(name)}/`)
      const links = new Map(
        [...choice.body.matchAll(/<a href="([^"]+)">(\w+)</g)].map(([, link = '', called = '']) => [called, link]),
      )
      equal([...links.keys()].toSorted(), ['Group', 'Password'])
      return person.open(new URL((links.get(way) ?? '').replaceAll('&amp;', '&'), choice.url))
    }
    const signIn = async (form: Answer, person: Browser, password: string): Promise<Answer> => {
      const action = /action="([^"]+)"/.exec(form.body)?.[1]?.replaceAll('&amp;', '&') ?? ''
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      const body = new URLSearchParams({ login: ADA, password }).toString()
      const answer = await person.ask(new URL(action, form.url), { method: 'POST', headers, body })
      const { location } = answer.headers
      return location === undefined ? answer : person.open(new URL(location, answer.url))
    }

    it('with a password, and are whom their address names', async () => {
      const person = stage.browser()
      const form = await arrive(person, 'web', 'Password')
      const again = await signIn(form, person, 'of nobody')
      ok(again.url.pathname.startsWith('/dex/'), 'a wrong password leads nowhere')
      const inside = await signIn(form, person, 'any')
      equal([inside.status, inside.body, inside.url.host], [200, 'the app', hostOf('web')])
    })

    it('and are let in by the groups that it names', async () => {
      const person = stage.browser()
      const inside = await arrive(person, 'shared', 'Group')
      equal([inside.status, inside.body, inside.url.host], [200, 'the app', hostOf('shared')])
      const other = await person.open(`https://${hostOf('web')}/`)
      is(other.status, 403)
      match(other.body, OF_GROUP.user)
    })
  },
  await lacksGo(SOURCE),
)
