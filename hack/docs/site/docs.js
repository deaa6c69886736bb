// Search, and a button that copies what a block shows. Without it everything else works.
const root = document.documentElement.dataset.root
const form = document.querySelector('.search')
const field = form.querySelector('input')
const found = form.querySelector('ol')

const script = (name) =>
  new Promise((resolve, reject) => {
    const element = document.createElement('script')
    element.src = `${root}/site/${name}`
    element.onload = resolve
    element.onerror = reject
    document.head.append(element)
  })

/** Loaded when somebody begins to search; pages that were opened from a disk may fetch nothing but scripts. */
let loading
let index
globalThis.berthIndex = (text, options) => {
  index = globalThis.MiniSearch.loadJSON(text, options)
}
const load = () => {
  loading ??= script('minisearch.js').then(() => script('index.js'))
  return loading
}

/** What people who use Berth need comes first; decisions are for those who work on it. */
const weightOf = (to) => (/^(docs\/decisions|src)\//.test(to) ? 0.3 : 1)

const line = ({ to, title, heading, start }) => {
  const item = document.createElement('li')
  const link = document.createElement('a')
  link.href = `${root}/${to}`
  const name = document.createElement('strong')
  name.textContent = heading && heading !== title ? `${title} › ${heading}` : title
  const words = document.createElement('span')
  words.textContent = start
  link.append(name, words)
  item.append(link)
  return item
}

const show = async () => {
  const wanted = field.value.trim()
  await load()
  if (field.value.trim() !== wanted) return
  const hits = wanted ? index.search(wanted, { boostDocument: weightOf }) : []
  found.replaceChildren(...hits.slice(0, 12).map(line))
  if (wanted && hits.length === 0)
    found.append(Object.assign(document.createElement('li'), { textContent: `Nothing about “${wanted}”.` }))
  found.hidden = !wanted
}

form.hidden = false
field.addEventListener('focus', load, { once: true })
field.addEventListener('input', show)
form.addEventListener('submit', (event) => {
  event.preventDefault()
  found.querySelector('a')?.click()
})
document.addEventListener('keydown', (event) => {
  const isTyping = event.target.matches('input, textarea')
  if (event.key === '/' && !isTyping) {
    event.preventDefault()
    field.focus()
  }
  if (event.key === 'Escape') {
    found.hidden = true
    field.blur()
  }
  if (form.contains(event.target) && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
    event.preventDefault()
    const links = [field, ...found.querySelectorAll('a')]
    const at = links.indexOf(document.activeElement) + (event.key === 'ArrowDown' ? 1 : -1)
    links.at(at % links.length).focus()
  }
})
document.addEventListener('click', (event) => {
  if (!form.contains(event.target)) found.hidden = true
})

for (const block of navigator.clipboard ? document.querySelectorAll('main pre') : []) {
  const button = Object.assign(document.createElement('button'), { type: 'button', className: 'copy', textContent: 'Copy' })
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(block.querySelector('code').textContent)
    button.textContent = 'Copied'
    setTimeout(() => {
      button.textContent = 'Copy'
    }, 2000)
  })
  block.append(button)
}

for (const heading of document.querySelectorAll('main :is(h2, h3, h4)[id]')) {
  const link = Object.assign(document.createElement('a'), { className: 'anchor', href: `#${heading.id}`, textContent: '#' })
  link.ariaLabel = `Link to ${heading.textContent}`
  heading.append(' ', link)
}

// A desk has room for the list of pages; a phone opens it.
const pages = document.querySelector('details.pages')
const desk = matchMedia('(min-width: 60rem)')
const fit = () => {
  pages.open = desk.matches
}
desk.addEventListener('change', fit)
fit()
