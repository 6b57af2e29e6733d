// Numbers of elements, for as long as their document exists. They are in the world of aye, which scripts of the page cannot reach.
const store = globalThis.ayeElements ??= { numbers: new WeakMap(), elements: new Map(), last: 0 };

function numberOf(element) {
    let number = store.numbers.get(element);
    if (!number) {
        number = ++store.last;
        store.numbers.set(element, number);
    }
    store.elements.set(number, element);
    return number;
}

function forgetRemoved() {
    for (const [number, element] of store.elements) {
        if (!element.isConnected) store.elements.delete(number);
    }
}

// All elements of the document and of its open shadow trees.
function* allElements(root) {
    for (const element of root.querySelectorAll('*')) {
        yield element;
        if (element.shadowRoot) yield* allElements(element.shadowRoot);
    }
}
