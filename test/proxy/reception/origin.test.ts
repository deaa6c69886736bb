import { is } from 'uvu/assert'
import { accessRulesOf } from '../../../src/engines/access/index.ts'
import { isOwnOrigin } from '../../../src/proxy/reception/head.ts'
import { published, ZONE } from '../../engines/access/neighbourhood.ts'
import { describe } from '../../support/suite.ts'

const PORTS = [
  { name: 'app', port: 3000 },
  { name: 'api', port: 8080 },
]
const workspace = {
  rules: accessRulesOf(published('web', { ports: PORTS })),
}
const own = `https://3000-web.${ZONE}`
const sibling = `https://8080-web.${ZONE}`

interface Row {
  says: boolean
  why: string
  headers: Record<string, string>
  method?: string
  upgrade?: boolean
}

const ROWS: Row[] = [
  { says: true, why: 'an upgrade of its own page', headers: { origin: own }, upgrade: true },
  { says: true, why: 'an upgrade of a page of another of its ports', headers: { origin: sibling }, upgrade: true },
  { says: false, why: 'an upgrade that does not say where it comes from', headers: {}, upgrade: true },
  { says: false, why: 'an upgrade of another workspace', headers: { origin: `https://3000-other.${ZONE}` }, upgrade: true },
  { says: false, why: 'an upgrade of another site', headers: { origin: 'https://evil.example' }, upgrade: true },
  { says: false, why: 'an upgrade of a file', headers: { origin: 'null' }, upgrade: true },
  { says: false, why: 'an upgrade of its host in plain text', headers: { origin: `http://3000-web.${ZONE}` }, upgrade: true },
  { says: false, why: 'an upgrade of a host that begins like it', headers: { origin: `${own}.evil.example` }, upgrade: true },
  { says: false, why: 'an upgrade of another port of the host', headers: { origin: `${own}:8443` }, upgrade: true },
  { says: true, why: 'a program that is no browser', headers: {} },
  { says: true, why: 'somebody types the address', headers: { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' } },
  { says: true, why: 'a link on another site', headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' } },
  { says: false, why: 'an image on another site', headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' } },
  { says: false, why: 'an image in another workspace', headers: { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' } },
  { says: false, why: 'a word that is not known', headers: { 'sec-fetch-site': 'moon', 'sec-fetch-mode': 'no-cors' } },
  { says: true, why: 'a form of its own', headers: { origin: own, 'sec-fetch-site': 'same-origin' }, method: 'POST' },
  {
    says: false,
    why: 'a form of another workspace',
    headers: { origin: `https://3000-other.${ZONE}`, 'sec-fetch-mode': 'navigate' },
    method: 'POST',
  },
  {
    says: false,
    why: 'a form that hides where it is',
    headers: { origin: 'null', 'sec-fetch-mode': 'navigate' },
    method: 'POST',
  },
  { says: false, why: 'a form of another site, by an old browser', headers: { origin: 'https://evil.example' }, method: 'POST' },
]

describe('where a request comes from', (it) => {
  for (const { says, why, headers, method = 'GET', upgrade = false } of ROWS)
    it(`${says ? 'own' : 'foreign'}: ${why}`, () => is(isOwnOrigin({ headers, method, isUpgrade: upgrade }, workspace), says))
})
