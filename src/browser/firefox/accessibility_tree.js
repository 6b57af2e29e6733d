// The accessibility tree of the document, in the form that Chromium has: BiDi has none.
const MAX_NODES = 20000, MAX_TEXT = 1000;

const ROLES = {
    ARTICLE: 'article', ASIDE: 'complementary', BUTTON: 'button', CANVAS: 'Canvas', DETAILS: 'group', DIALOG: 'dialog',
    FIELDSET: 'group', FIGURE: 'figure', H1: 'heading', H2: 'heading', H3: 'heading', H4: 'heading', H5: 'heading',
    H6: 'heading', HR: 'separator', IMG: 'image', LI: 'listitem', MAIN: 'main', MENU: 'list', METER: 'meter', NAV: 'navigation',
    OL: 'list', OPTION: 'option', OUTPUT: 'status', PROGRESS: 'progressbar', SUMMARY: 'DisclosureTriangle', TABLE: 'table',
    TD: 'cell', TEXTAREA: 'textbox', TR: 'row', UL: 'list', VIDEO: 'video', AUDIO: 'audio',
};
const INPUT_ROLES = {
    button: 'button', submit: 'button', reset: 'button', image: 'button', file: 'button', checkbox: 'checkbox', radio: 'radio',
    range: 'slider', number: 'spinbutton', search: 'searchbox', date: 'Date', 'datetime-local': 'DateTime', month: 'DateTime',
    week: 'DateTime', time: 'InputTime', color: 'ColorWell',
};
const NAMED_BY_CONTENT = new Set(['button', 'cell', 'checkbox', 'columnheader', 'gridcell', 'heading', 'link', 'menuitem',
    'menuitemcheckbox', 'menuitemradio', 'option', 'radio', 'row', 'rowheader', 'switch', 'tab', 'treeitem', 'DisclosureTriangle']);
const LANDMARKS = 'article, aside, main, nav, section';
const TEXT_ROLES = new Set(['textbox', 'searchbox', 'combobox', 'spinbutton']);

const clip = text => (text ?? '').replace(/\s+/g, ' ').trim().slice(0, MAX_TEXT);
const isInput = element => element instanceof HTMLInputElement;

function roleOf(element) {
    const given = (element.getAttribute('role') ?? '').trim().split(/\s+/)[0].toLowerCase();
    if (given === 'img') return 'image';
    if (given && !(['none', 'presentation'].includes(given) && element.tabIndex >= 0)) return given;
    const tag = element.tagName;
    if (isFrame(element)) return 'Iframe';
    if (tag === 'A' || tag === 'AREA') return element.hasAttribute('href') ? 'link' : 'generic';
    if (tag === 'SELECT') return element.multiple || element.size > 1 ? 'listbox' : 'combobox';
    if (tag === 'INPUT') return INPUT_ROLES[element.type] ?? (element.hasAttribute('list') ? 'combobox' : 'textbox');
    if (tag === 'TH') return element.scope === 'row' ? 'rowheader' : 'columnheader';
    if (tag === 'HEADER') return element.closest(LANDMARKS) ? 'generic' : 'banner';
    if (tag === 'FOOTER') return element.closest(LANDMARKS) ? 'generic' : 'contentinfo';
    if (tag === 'FORM') return ownName(element) ? 'form' : 'generic';
    if (tag === 'SECTION') return ownName(element) ? 'region' : 'generic';
    if (element instanceof SVGSVGElement) return 'image';
    return ROLES[tag] ?? 'generic';
}

function isFrame(element) {
    return ['IFRAME', 'FRAME', 'OBJECT'].includes(element.tagName) && !!element.contentWindow;
}

function isHidden(element) {
    if (element.ariaHidden === 'true' || element.inert) return true;
    const display = getComputedStyle(element).display;
    return display === 'none' || display !== 'contents' && !element.checkVisibility();
}

function isSeen(element) {
    return getComputedStyle(element).visibility === 'visible';
}

function children(node) {
    if (node.shadowRoot) return node.shadowRoot.childNodes;
    if (node instanceof HTMLSlotElement && node.assignedNodes().length) return node.assignedNodes();
    return node.childNodes;
}

// The text inside, as a name has it: without the element that is named.
function textInside(node, except, budget = { nodes: 500 }) {
    let text = '';
    for (const child of children(node)) {
        if (--budget.nodes < 0 || text.length > MAX_TEXT) break;
        if (child.nodeType === Node.TEXT_NODE) {
            if (isSeen(child.parentElement ?? document.documentElement)) text += child.data;
        } else if (child.nodeType === Node.ELEMENT_NODE && child !== except && !isHidden(child)) {
            if (['STYLE', 'SCRIPT', 'SELECT', 'TEXTAREA'].includes(child.tagName)) continue;
            text += ' ' + (ownName(child) || textInside(child, except, budget)) + ' ';
        }
    }
    return text;
}

// The name that attributes and other elements give.
function ownName(element) {
    const root = element.getRootNode();
    const labels = (element.getAttribute('aria-labelledby') ?? '').split(/\s+/).filter(Boolean).slice(0, 20);
    const labelled = clip(labels.map(id => root.getElementById?.(id)).filter(Boolean)
        .map(label => label.getAttribute('aria-label') || textInside(label, element)).join(' '));
    if (labelled) return labelled;
    const given = clip(element.getAttribute('aria-label'));
    if (given) return given;
    const tag = element.tagName;
    if (tag === 'IMG' || tag === 'AREA' || isInput(element) && element.type === 'image') return clip(element.alt);
    if (isInput(element) && ['button', 'submit', 'reset'].includes(element.type)) {
        const usual = { submit: 'Submit', reset: 'Reset' }[element.type];
        return clip(element.getAttribute('value') ?? usual ?? '');
    }
    if (tag === 'TABLE') return element.caption ? clip(textInside(element.caption)) : '';
    if (tag === 'FIELDSET') return clip(element.querySelector(':scope > legend')?.textContent);
    if (tag === 'FIGURE') return clip(element.querySelector(':scope > figcaption')?.textContent);
    if (tag === 'OPTION') return clip(element.label);
    if (element instanceof SVGElement) return clip(element.querySelector(':scope > title')?.textContent);
    return '';
}

function nameOf(element, role) {
    const labels = () => [...element.labels ?? []].map(label => textInside(label, element)).join(' ');
    return ownName(element) || clip(labels()) || (NAMED_BY_CONTENT.has(role) && !isInput(element) ? clip(textInside(element)) : '')
        || clip(element.getAttribute('title')) || clip(element.getAttribute('placeholder'))
        || (isInput(element) && element.type === 'file' ? 'Choose File' : '');
}

function valueOf(element, role) {
    if (element instanceof HTMLSelectElement) return element.multiple ? '' : clip(element.selectedOptions[0]?.label);
    if (isInput(element) && element.type === 'password') return '•'.repeat(Math.min(element.value.length, 100));
    if (isInput(element) && !['checkbox', 'radio', 'button', 'submit', 'reset', 'image', 'file'].includes(element.type)
        || element instanceof HTMLTextAreaElement) return clip(element.value);
    if (['PROGRESS', 'METER'].includes(element.tagName)) return String(element.value);
    const given = element.getAttribute('aria-valuetext') ?? element.getAttribute('aria-valuenow');
    return given ? clip(given) : TEXT_ROLES.has(role) && element.isContentEditable ? clip(element.textContent) : '';
}

function propertiesOf(element, role) {
    const found = {};
    const aria = name => element.getAttribute('aria-' + name);
    const isEditingHost = element.isContentEditable && !element.parentElement?.isContentEditable;
    const isDisabled = element.matches(':disabled') || aria('disabled') === 'true';
    if (!element.matches(':disabled') && (element.tabIndex >= 0 || element.hasAttribute('tabindex') || isEditingHost)) {
        found.focusable = true;
    }
    if (isEditingHost) found.editable = 'richtext';
    if (element instanceof HTMLTextAreaElement || isInput(element) && TEXT_ROLES.has(role)) found.editable = 'plaintext';
    if (role === 'heading') found.level = Number(aria('level')) || Number(element.tagName.slice(1)) || 2;
    if (isInput(element) && ['checkbox', 'radio'].includes(element.type)) {
        found.checked = element.indeterminate ? 'mixed' : String(element.checked);
    } else if (aria('checked')) {
        found.checked = aria('checked');
    }
    if (element instanceof HTMLOptionElement ? element.selected : aria('selected') === 'true') found.selected = true;
    if (aria('pressed')) found.pressed = aria('pressed');
    const isOpen = element.tagName === 'SUMMARY' ? element.parentElement?.open : aria('expanded') === 'true';
    if (isOpen) found.expanded = true;
    if (isDisabled) found.disabled = true;
    if (element.required || aria('required') === 'true') found.required = true;
    if (element.readOnly || aria('readonly') === 'true') found.readonly = true;
    if (role === 'link' && element.href) found.url = String(element.href);
    return Object.entries(found).map(([name, value]) => ({ name, value: { value } }));
}

forgetRemoved();
const nodes = [];
function add(role, name, parent) {
    const node = { nodeId: String(nodes.length + 1), role: { value: role }, name: { value: name }, childIds: [] };
    if (parent) {
        node.parentId = parent.nodeId;
        parent.childIds.push(node.nodeId);
    }
    nodes.push(node);
    return node;
}
// A stack, because a page may nest its elements deeper than functions can be.
const stack = [[document.documentElement, add('RootWebArea', clip(document.title))]];
while (stack.length && nodes.length < MAX_NODES) {
    const [node, parent] = stack.pop();
    if (node.nodeType === Node.TEXT_NODE) {
        const text = clip(node.data);
        if (text && isSeen(node.parentElement ?? document.documentElement)) add('StaticText', text, parent);
        continue;
    }
    if (node.nodeType !== Node.ELEMENT_NODE || isHidden(node)) continue;
    if (['HEAD', 'SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE'].includes(node.tagName)) continue;
    let around = parent;
    if (isSeen(node) && node.tagName !== 'HTML' && node.tagName !== 'BODY') {
        const role = roleOf(node), properties = propertiesOf(node, role);
        const isPlain = ['generic', 'none', 'presentation'].includes(role);
        const name = isPlain && !properties.length ? '' : nameOf(node, role);
        if (!isPlain || properties.length) {
            around = add(role, name, parent);
            around.backendDOMNodeId = numberOf(node);
            around.value = { value: valueOf(node, role) };
            around.properties = properties;
            if (role === 'Iframe' || isInput(node) || ['TEXTAREA', 'SVG', 'svg'].includes(node.tagName)) continue;
        }
    }
    for (const child of [...children(node)].reverse()) stack.push([child, around]);
}
return { nodes };
