/**
 * What a page can do by itself: bring its parts up to date, reckon times, and press buttons without loading anew. Everything works
 * without it.
 */
const byId = (id) => document.querySelector(`#${CSS.escape(id)}`)

const said = byId('said')
const line = byId('line')

const say = (text) => {
  said.textContent = text
}

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** As src/std/duration.ts has it. */
const spelled = (ms) => {
  const length = Math.max(ms, 0)
  if (length < 2 * MINUTE) return `${Math.round(length / SECOND)} s`
  if (length < 2 * HOUR) return `${Math.round(length / MINUTE)} min`
  return length < 2 * DAY ? `${Math.round(length / HOUR)} h` : `${Math.round(length / DAY)} d`
}

const untilWords = (ms) => (ms <= 0 ? 'now' : `in ${spelled(ms)}`)

const reckon = (root) => {
  for (const time of root.querySelectorAll('time[data-time]')) {
    const ms = Date.parse(time.dateTime) - Date.now()
    const words = time.dataset.time === 'until' ? untilWords(ms) : spelled(-ms)
    if (time.textContent !== words) time.textContent = words
  }
}

const elementOf = (html) => {
  const template = document.createElement('template')
  template.innerHTML = html
  return template.content.firstElementChild
}

/** Whoever is on a button stays on it, or on what has come in its place. */
const keepingFocus = (element, change) => {
  const held = element?.contains(document.activeElement) ? document.activeElement : undefined
  const open = [...(element?.querySelectorAll('details[open]') ?? [])].map(({ id }) => id)
  change()
  for (const id of open) byId(id)?.setAttribute('open', '')
  if (!held || held.isConnected) return
  const now = (held.id && byId(held.id)) || byId(element.id)
  if (!now) return
  const next = now.matches('a, button, input, select, textarea, summary') ? now : now.querySelector('a, button')
  // Where nothing can be pressed for a while, the part itself keeps the place.
  if (!next) now.tabIndex = -1
  ;(next ?? now).focus()
}

const put = ({ id, list, after, html, say: words }) => {
  const next = elementOf(html)
  const home = byId(list)
  if (!(next && home)) return
  reckon(next)
  const before = byId(id)
  if (before?.isEqualNode(next)) return
  const place = () => {
    before?.remove()
    const previous = after === '' ? undefined : byId(after)
    if (previous?.parentElement === home) previous.after(next)
    else home.prepend(next)
  }
  if (before && before.parentElement === home && (before.previousElementSibling?.id ?? '') === after)
    keepingFocus(before, () => before.replaceWith(next))
  else keepingFocus(before, place)
  if (words) say(words)
}

const { live } = document.body.dataset

if (live !== undefined) {
  const source = new EventSource(live)
  const listen = (name, act) => source.addEventListener(name, ({ data }) => act(JSON.parse(data)))
  listen('put', put)
  listen('gone', ({ id }) => byId(id)?.remove())
  listen('all', ({ ids, lists }) => {
    for (const list of lists) for (const child of [...(byId(list)?.children ?? [])]) if (!ids.includes(child.id)) child.remove()
  })
  listen('over', () => {
    source.close()
    line.hidden = false
    line.textContent = 'You are not signed in any more. Load this page again to sign in.'
    say(line.textContent)
  })
  source.addEventListener('error', () => {
    line.hidden = false
    line.textContent = 'Not up to date: the connection is lost, and is tried again.'
  })
  source.addEventListener('open', () => {
    line.hidden = true
  })
}

reckon(document)
setInterval(() => reckon(document), SECOND)

/** What is done is seen by what changes; what is refused is told. */
const press = async (form, button) => {
  button?.setAttribute('aria-busy', 'true')
  const parameters = new URLSearchParams(new FormData(form, button))
  try {
    const answer = await fetch(form.action, { method: 'POST', body: parameters, redirect: 'manual' })
    if (answer.type === 'opaqueredirect') say('It is being done.')
    else {
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
      say(page.querySelector('main')?.textContent?.trim() ?? 'It could not be done.')
      line.hidden = false
      line.textContent = said.textContent
    }
  } catch {
    form.submit()
  } finally {
    button?.removeAttribute('aria-busy')
  }
}

document.addEventListener('submit', (event) => {
  const form = event.target
  if (live === undefined || !form.hasAttribute('data-quiet')) return
  event.preventDefault()
  press(form, event.submitter)
})

document.addEventListener('click', async ({ target }) => {
  const button = target instanceof Element ? target.closest('button[data-copy]') : undefined
  if (!button) return
  await navigator.clipboard.writeText(button.dataset.copy)
  say('Copied.')
})

const TOO_FAR = 3 * SECOND

/** Milliseconds there and back, the shorter of two; the first way there, on which the connection is made, does not count. */
const latencyTo = async (url) => {
  const times = []
  for (let turn = 0; turn < 3; turn++) {
    const began = performance.now()
    await fetch(url, { credentials: 'omit', cache: 'no-store', signal: AbortSignal.timeout(TOO_FAR) })
    times.push(performance.now() - began)
  }
  return Math.min(...times.slice(1))
}

/** The nearest region first; those that do not answer stay where they are, behind the others. What is chosen stays chosen. */
const sortByLatency = async (groups) => {
  const measured = await Promise.all(
    groups.map(async (group) => ({ group, latency: await latencyTo(group.dataset.ping).catch(() => Number.POSITIVE_INFINITY) })),
  )
  const near = measured.filter(({ latency }) => Number.isFinite(latency)).sort((a, b) => a.latency - b.latency)
  const [first] = groups
  const select = first.closest('select')
  const { value } = select
  const place = document.createComment('')
  first.before(place)
  for (const { group, latency } of near) {
    group.label += `, ${Math.max(1, Math.round(latency))} ms away`
    place.before(group)
  }
  place.remove()
  select.value = value
}

const regions = [...document.querySelectorAll('optgroup[data-ping]')]
if (regions.length > 0) sortByLatency(regions)
